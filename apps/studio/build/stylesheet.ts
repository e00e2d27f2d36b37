/**
 * Collects imported style sheets into one file: in the order in which their modules run, with those of parts that are
 * loaded later at the end. `@import` is replaced by what it names, and files named by `url(…)` are emitted with a hash.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Plugin, PluginContext } from 'rolldown';

/** The name of the file, before the hash. */
export const STYLESHEET = 'studio';

export class Stylesheet {
  readonly #texts = new Map<string, string>();

  plugin(): Plugin {
    const texts = this.#texts;
    return {
      name: 'stylesheet',
      load: {
        filter: { id: /\.css$/ },
        handler(id) {
          texts.set(id, minified(inlined(this, id)));
          // Without side effects: the module itself is left out of the scripts.
          return { code: '', moduleType: 'js', moduleSideEffects: false };
        },
      },
      generateBundle(_, bundle) {
        const entries = Object.values(bundle).flatMap((built) =>
          built.type === 'chunk' && built.isEntry && built.facadeModuleId !== null ? [built.facadeModuleId] : [],
        );
        const source = modulesInOrder(this, entries)
          .map((id) => texts.get(id) ?? '')
          .join('');
        // Names of emitted files are known from here on.
        const text = source.replaceAll(/__FILE_([\w$]+?)__/g, (_whole, reference: string) =>
          this.getFileName(reference),
        );
        if (text !== '') this.emitFile({ type: 'asset', name: `${STYLESHEET}.css`, source: text });
      },
    };
  }
}

/** Imported modules before those that import them, as they run; modules that are imported on demand follow. */
function modulesInOrder(context: PluginContext, entries: readonly string[]): string[] {
  const order = new Set<string>();
  const visited = new Set<string>();
  const later = [...entries];
  const visit = (id: string): void => {
    if (visited.has(id)) return;
    visited.add(id);
    const info = context.getModuleInfo(id);
    for (const imported of info?.importedIds ?? []) visit(imported);
    later.push(...(info?.dynamicallyImportedIds ?? []));
    order.add(id);
  };
  for (let id = later.shift(); id !== undefined; id = later.shift()) visit(id);
  return [...order];
}

const IMPORT = /@import\s+(?:url\(\s*)?(['"])([^'"]+)\1\s*\)?\s*;/g;
const URL_VALUE = /url\(\s*(['"]?)([^'")]+)\1\s*\)/g;
/** Every browser that runs the Studio reads woff2. */
const OLD_FORMAT = /,\s*url\(\s*['"]?[^'")]+\.woff['"]?\s*\)\s*format\(\s*['"]woff['"]\s*\)/g;

function inlined(context: PluginContext, file: string): string {
  context.addWatchFile(file);
  return readFileSync(file, 'utf8')
    .replaceAll(IMPORT, (_, _quote, target: string) => inlined(context, located(file, target)))
    .replaceAll(OLD_FORMAT, '')
    .replaceAll(URL_VALUE, (whole, _quote, target: string) => {
      if (/^(?:data:|#|__FILE_)/.test(target)) return whole;
      const found = located(file, target);
      const reference = context.emitFile({ type: 'asset', name: path.basename(found), source: readFileSync(found) });
      return `url(__FILE_${reference}__)`;
    });
}

/** A relative path, or a file of a package. */
function located(from: string, target: string): string {
  return target.startsWith('.') ? path.resolve(path.dirname(from), target) : createRequire(from).resolve(target);
}

/** Without comments and line breaks; strings stay as they are. */
export function minified(css: string): string {
  return css
    .replaceAll(
      /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\/\*[\s\S]*?\*\/|\s+/g,
      (_, text: string | undefined) => text ?? ' ',
    )
    .replaceAll(
      /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')| *([{};,]) */g,
      (_, text: string | undefined, sign: string) => text ?? sign,
    )
    .trim();
}
