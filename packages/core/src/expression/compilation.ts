/** The state that the parts of the compiler share. */
import type { Run } from './frame.ts';
import type { Syntax } from './syntax.ts';

export interface Compilation {
  readonly source: string;
  /** Whether the result may contain a value that is not part of the scope. */
  builds: boolean;
  compile(syntax: Syntax): Run;
  /** A lambda costs at least one operation per call, even when its body is a literal. */
  compileLambdaBody(syntax: Syntax): Run;
}
