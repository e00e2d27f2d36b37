/**
 * Parses source text to syntax by operator precedence (Pratt). Everything that does not depend on a scope is checked
 * here: names, functions, numbers of arguments, members of nodes, nesting.
 */
import { DEFINITION_LIMITS } from '../limits.ts';
import { clipped, didYouMean } from '../problem.ts';
import { syntaxError } from './characters.ts';
import { ExpressionError } from './expression-error.ts';
import { foreignMeaning } from './foreign-names.ts';
import { isWord, type Lexer } from './lexer.ts';
import { findPlainFunction, hasMethod } from './library/registry.ts';
import { CallParser, lambdaHead } from './parse-call.ts';
import { ChainParser, guardWithDefault } from './parse-chain.ts';
import type { Reference } from './reference.ts';
import { SourceReader } from './source-reader.ts';
import type { ArithmeticOperator, ComparisonOperator, ListItem, ObjectMember, Syntax } from './syntax.ts';

export interface Parsed {
  readonly syntax: Syntax;
  readonly references: readonly Reference[];
  readonly depth: number;
  /** Total number of lambda parameters. */
  readonly slots: number;
  /** The end of the expression; the text after it is not part of it. */
  readonly end: number;
}

/** Binding power of infix operators, loosest first. */
const POWER = { or: 1, and: 2, not: 3, comparison: 4, coalesce: 5, additive: 6, multiplicative: 7, prefix: 8 } as const;

const INFIX: Readonly<Record<string, { readonly power: number; readonly sign: string }>> = {
  '||': { power: POWER.or, sign: '||' },
  or: { power: POWER.or, sign: '||' },
  '&&': { power: POWER.and, sign: '&&' },
  and: { power: POWER.and, sign: '&&' },
  '==': { power: POWER.comparison, sign: '==' },
  '!=': { power: POWER.comparison, sign: '!=' },
  '<': { power: POWER.comparison, sign: '<' },
  '<=': { power: POWER.comparison, sign: '<=' },
  '>': { power: POWER.comparison, sign: '>' },
  '>=': { power: POWER.comparison, sign: '>=' },
  contains: { power: POWER.comparison, sign: 'contains' },
  '??': { power: POWER.coalesce, sign: '??' },
  '+': { power: POWER.additive, sign: '+' },
  '-': { power: POWER.additive, sign: '-' },
  '*': { power: POWER.multiplicative, sign: '*' },
  '/': { power: POWER.multiplicative, sign: '/' },
  '%': { power: POWER.multiplicative, sign: '%' },
};

const MAX_ID_LENGTH = DEFINITION_LIMITS.maxIdLength;

/** Parses the expression that starts at `offset`, as far as it extends. */
export function parseAt(source: string, offset: number, maxDepth: number): Parsed {
  try {
    return new Parser(new SourceReader(source, offset, maxDepth)).parse();
  } catch (error) {
    throw error instanceof ExpressionError ? error.clip(source.length) : error;
  }
}

class Parser {
  private readonly reader: SourceReader;
  private readonly lexer: Lexer;
  private readonly calls: CallParser;
  private readonly chains: ChainParser;

  constructor(reader: SourceReader) {
    this.reader = reader;
    this.lexer = reader.lexer;
    const expression = () => this.expression();
    this.calls = new CallParser(reader, expression);
    this.chains = new ChainParser(reader, this.calls, expression, () => this.primary());
  }

  parse(): Parsed {
    const syntax = this.expression();
    const { nesting, slots } = this.reader;
    // Complete by now: every chain has been parsed to its end.
    const references = this.reader.references as readonly Reference[];
    return { syntax, references, depth: nesting.deepest, slots, end: this.lexer.start };
  }

  /** Parses a whole expression: conditionals and everything that binds tighter. */
  private expression(): Syntax {
    this.reader.nesting.enter(this.lexer.start);
    const first = this.binary(POWER.or);
    const syntax = this.reader.isSign('?') ? this.conditional(first) : first;
    this.reader.nesting.leave();
    return syntax;
  }

  private conditional(first: Syntax): Syntax {
    const branches: { test: Syntax; then: Syntax }[] = [];
    let rest = first;
    while (this.reader.takeSign('?')) {
      const then = this.expression();
      this.reader.expectSign(':');
      branches.push({ test: rest, then });
      rest = this.binary(POWER.or);
    }
    return { kind: 'conditional', branches, otherwise: rest, ...this.reader.span(first.offset) };
  }

  private binary(minPower: number): Syntax {
    let left = this.prefix(minPower);
    for (let power = this.infixPower(); power >= minPower; power = this.infixPower()) {
      left = power === POWER.comparison ? this.comparison(left) : this.series(left, power);
    }
    return left;
  }

  private infixPower(): number {
    return this.infix()?.power ?? 0;
  }

  private infix(): { readonly power: number; readonly sign: string } | undefined {
    const { kind, text } = this.lexer;
    return (kind === 'sign' || kind === 'name') && Object.hasOwn(INFIX, text) ? INFIX[text] : undefined;
  }

  private comparison(left: Syntax): Syntax {
    const operator = this.infix()?.sign as ComparisonOperator;
    this.lexer.advance();
    const right = this.binary(POWER.comparison + 1);
    if (this.infixPower() === POWER.comparison) {
      const { start, end } = this.lexer;
      throw syntaxError('comparisons cannot be chained', start, end - start, 'combine them with && or use parentheses');
    }
    return { kind: 'comparison', operator, left, right, ...this.reader.span(left.offset) };
  }

  /** Collects all operands of operators with the same precedence in one flat node. */
  private series(first: Syntax, power: number): Syntax {
    const rest: { sign: string; operand: Syntax }[] = [];
    for (let infix = this.infix(); infix?.power === power; infix = this.infix()) {
      this.lexer.advance();
      rest.push({ sign: infix.sign, operand: this.binary(power + 1) });
    }
    const operands = [first, ...rest.map((term) => term.operand)];
    const span = this.reader.span(first.offset);
    if (power === POWER.or) return { kind: 'logic', operator: '||', operands, ...span };
    if (power === POWER.and) return { kind: 'logic', operator: '&&', operands, ...span };
    if (power === POWER.coalesce) {
      for (const operand of operands.slice(0, -1)) guardWithDefault(operand);
      return { kind: 'coalesce', operands, ...span };
    }
    const terms = rest.map((term) => ({ operator: term.sign as ArithmeticOperator, operand: term.operand }));
    return { kind: 'arithmetic', first, rest: terms, ...span };
  }

  private prefix(minPower: number): Syntax {
    const { kind, text, start } = this.lexer;
    const word = kind === 'name' && text === 'not';
    if (!word && !(kind === 'sign' && (text === '!' || text === '-'))) return this.chains.parse();
    if (word && minPower > POWER.not) {
      throw syntaxError('not must precede a whole comparison', start, 3, 'use ! or parentheses');
    }
    this.reader.nesting.enter(start);
    this.lexer.advance();
    const operand = this.binary(word ? POWER.comparison : POWER.prefix);
    this.reader.nesting.leave();
    const span = this.reader.span(start);
    if (text === '-' && operand.kind === 'literal' && typeof operand.value === 'number') {
      return { kind: 'literal', value: 0 - operand.value, ...span };
    }
    return { kind: 'unary', operator: text === '-' ? '-' : '!', operand, ...span };
  }

  /** Parses a value that access steps can follow. */
  private primary(): Syntax {
    const { kind, text, start, end, value } = this.lexer;
    switch (kind) {
      case 'number':
      case 'string':
        this.lexer.advance();
        return { kind: 'literal', value, offset: start, length: end - start };
      case 'name':
        return this.name();
      case 'sign':
        if (text === '(') return this.group();
        if (text === '[') return this.list();
        if (text === '{') return this.object();
        throw this.reader.unexpected('a value expected');
      case 'dollar':
      case 'end':
        throw this.reader.unexpected('a value expected');
    }
  }

  private group(): Syntax {
    const { start } = this.lexer;
    if (lambdaHead(this.reader.source, start) !== undefined) throw misplacedLambda(start);
    this.lexer.advance();
    const inner = this.expression();
    const end = this.reader.expectSign(')');
    return { ...inner, offset: start, length: end - start };
  }

  private list(): Syntax {
    const { start } = this.lexer;
    this.lexer.advance();
    const items: ListItem[] = [];
    while (!this.reader.isSign(']')) {
      const spread = this.reader.takeSign('...');
      items.push({ spread, value: this.expression() });
      if (!this.reader.takeSign(',')) break;
    }
    const end = this.reader.expectSign(']');
    return { kind: 'list', items, offset: start, length: end - start };
  }

  private object(): Syntax {
    const { start } = this.lexer;
    this.lexer.advance();
    const members: ObjectMember[] = [];
    while (!this.reader.isSign('}')) {
      members.push(this.member());
      if (!this.reader.takeSign(',')) break;
    }
    const end = this.reader.expectSign('}');
    return { kind: 'object', members, offset: start, length: end - start };
  }

  private member(): ObjectMember {
    if (this.reader.takeSign('...')) return { key: undefined, value: this.expression() };
    const key = this.memberKey();
    this.reader.expectSign(':');
    return { key, value: this.expression() };
  }

  private memberKey(): string | Syntax {
    const { kind, text, value } = this.lexer;
    if (kind === 'name' || kind === 'string' || kind === 'number') {
      this.lexer.advance();
      return kind === 'name' ? text : String(value);
    }
    if (!this.reader.takeSign('[')) throw this.reader.unexpected('the name of a member expected');
    const key = this.expression();
    this.reader.expectSign(']');
    return key;
  }

  private name(): Syntax {
    const { text, start, end } = this.lexer;
    const span = { offset: start, length: end - start };
    this.lexer.advance();
    if (this.reader.isSign('=>')) throw misplacedLambda(start);
    if (text === 'true' || text === 'false') return { kind: 'literal', value: text === 'true', ...span };
    if (text === 'null') return { kind: 'literal', value: null, ...span };
    if (this.reader.isSign('(')) return this.calls.plain(text, start);
    const slot = this.reader.slotOf(text);
    if (slot !== undefined) return { kind: 'local', name: text, slot, ...span };
    if (isWord(text)) throw syntaxError(`a value expected, but there is ${text}`, start, text.length);
    throw new ExpressionError('EXPRESSION_REFERENCE', `${clipped(text)} is not a known name`, {
      at: span,
      hint: this.meaning(text, start),
    });
  }

  private meaning(text: string, start: number): string {
    const name = clipped(text);
    // `$my-node` is parsed as `$my` minus `node`.
    const before = /\$([A-Za-z0-9_-]+)-$/.exec(this.reader.source.slice(Math.max(0, start - MAX_ID_LENGTH), start));
    if (before !== null) return `an id with a hyphen is written $nodes['${before[1]}-${name}'].output`;
    const local = didYouMean(name, this.reader.localNames());
    if (local !== undefined) return `did you mean ${local}?`;
    const foreign = foreignMeaning(name);
    if (foreign !== undefined) return foreign;
    if (findPlainFunction(name) !== undefined) return `${name} is a function: write ${name}(…)`;
    if (hasMethod(name)) return `functions are methods: write $x.${name}(…)`;
    if (name === 'Math') return 'functions are methods: write $x.round()';
    if (name === 'undefined') return 'write null';
    if (name === 'JSON') return 'write $x.toJson() or $x.parseJson()';
    return `did you mean $${name}? Put text in quotes`;
  }
}

function misplacedLambda(offset: number): ExpressionError {
  return syntaxError('a lambda can only be an argument of a function', offset, 1);
}
