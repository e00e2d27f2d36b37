/** The lines of a document that are not inside fenced code, numbered from 1. */
export function* linesOutsideFences(text: string): Iterable<[line: number, content: string]> {
  let fence: string | null = null;
  for (const [index, content] of text.split('\n').entries()) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(content)?.[1];
    if (fence !== null) {
      if (mark?.startsWith(fence)) fence = null;
    } else if (mark !== undefined) {
      fence = mark;
    } else {
      yield [index + 1, content];
    }
  }
}
