/** Translates the YAML library's errors to messages for authors. */
import type { YAMLError } from 'yaml';

export interface Explanation {
  readonly message: string;
  readonly hint: string;
}

interface Rule extends Explanation {
  readonly code?: YAMLError['code'];
  readonly says?: RegExp;
}

/** The first matching rule applies. */
const RULES: readonly Rule[] = [
  {
    code: 'TAB_AS_INDENT',
    message: 'a tab is used for indentation',
    hint: 'YAML is indented with spaces only; replace the tabs of this and the following lines',
  },
  {
    code: 'BLOCK_AS_IMPLICIT_KEY',
    says: /Nested mappings/,
    message: "there is a second ': ' in this line",
    hint: 'put the string in quotes, or write the inner mapping on lines of its own',
  },
  {
    code: 'MULTILINE_IMPLICIT_KEY',
    message: "this line is not 'key: value'",
    hint: "is a ':' missing after the key, or a space after the ':'?",
  },
  {
    says: /Implicit map keys need to be followed by map values/,
    message: "this line is not 'key: value'",
    hint: "is a ':' missing after the key, or a space after the ':'?",
  },
  { says: /Missing closing/, message: 'the quoted text is not closed', hint: 'add the closing quote' },
  {
    says: /(?:must|and) end with a }/,
    message: "the mapping that begins with '{' is not closed",
    hint: "add '}', or indent its lines further than the key it belongs to",
  },
  {
    says: /(?:must|and) end with a ]/,
    message: "the list that begins with '[' is not closed",
    hint: "add ']', or indent its lines further than the key it belongs to",
  },
  {
    says: /Missing , /,
    message: 'a comma is missing between two items',
    hint: 'items between [ ] and { } are separated by commas',
  },
  { says: /Unexpected ,/, message: "there is one ',' too many", hint: 'remove it' },
  {
    code: 'BAD_INDENT',
    says: /same column/,
    message: 'this line is indented differently from its neighbours',
    hint: 'keys of one mapping, and items of one list, begin in the same column',
  },
  { code: 'BAD_INDENT', message: 'the indentation is wrong here', hint: 'a value is indented further than its key' },
  {
    code: 'BAD_DQ_ESCAPE',
    message: 'this is not an escape sequence',
    hint: "in double quotes write a backslash as \\\\, or use 'single quotes', where it has no meaning",
  },
  {
    code: 'BAD_SCALAR_START',
    message: 'a string must not begin with this character',
    hint: 'put the string in quotes',
  },
  {
    says: /at node end|Unexpected (?:scalar|flow|double|single|seq|map)|in YAML stream/,
    message: 'unexpected text',
    hint: 'is the text before it complete, and the indentation right? A string with special characters needs quotes',
  },
  {
    says: /Comments must be separated/,
    message: "there is no space before the '#'",
    hint: "a comment begins with ' #'; a string with '#' needs quotes",
  },
  {
    code: 'BLOCK_IN_FLOW',
    message: 'indented lines are not allowed inside [ ] or { }',
    hint: 'write the inner value with brackets too',
  },
  {
    code: 'KEY_OVER_1024_CHARS',
    message: 'the key is longer than 1024 characters',
    hint: 'is a line break or a quote missing?',
  },
];

export function explainYamlError(error: YAMLError, line: string): Explanation {
  const rule = RULES.find(
    ({ code, says }) => (code === undefined || code === error.code) && (says === undefined || says.test(error.message)),
  );
  const message = rule?.message ?? lowerFirst(error.message.split('\n')[0]?.slice(0, 200) ?? 'this is not YAML');
  if (hasBareTemplate(line)) return { message, hint: TEMPLATE_HINT };
  return { message, hint: rule?.hint ?? 'see https://yaml.org/spec/1.2.2 for the rules of YAML' };
}

export const TEMPLATE_HINT = 'a string that begins with {{ needs quotes: "{{ … }}"';

/** Detects `key: {{ x }}/path`, the most common mistake in files with templates: YAML reads `{` as a mapping. */
function hasBareTemplate(line: string): boolean {
  return /(?:[:,[-]\s+|\[)\{\{/.test(line.slice(0, 2_000));
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
