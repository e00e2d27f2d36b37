/** What the parts of the compiler share: the source, and the way back to the whole. */
import type { Run } from './frame.ts';
import type { Syntax } from './syntax.ts';

export interface Compilation {
  readonly source: string;
  /** Whether the result may hold anything that the scope does not hold as it is. */
  builds: boolean;
  compile(syntax: Syntax): Run;
  /** A lambda costs at least one operation each time, also when its body is a literal. */
  compileLambdaBody(syntax: Syntax): Run;
}
