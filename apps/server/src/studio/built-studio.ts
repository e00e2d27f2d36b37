/**
 * The built Studio: a page and the files that it loads, as its manifest lists them. Only listed names are read, so no
 * name of a request becomes a path.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The name of the manifest in the folder of a build. */
export const STUDIO_MANIFEST = 'manifest.json';
/** Stands in the page for the nonce of a response. */
export const NONCE_MARK = '__NONCE__';

export type StudioEncoding = 'br' | 'gzip';

export interface StudioFile {
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly contentType: string;
  /** A hash of the content, as browsers check it: `sha256-…`. */
  readonly integrity: string;
  /** The encodings in which the file exists, with `.br` and `.gz` at the end of its name. */
  readonly encodings: readonly StudioEncoding[];
  /** The script of a worker, which has a policy of its own. `eval`: it compiles schemas to code. */
  readonly worker?: 'strict' | 'eval';
}

export interface StudioManifest {
  readonly format: 1;
  /** The page, with a mark in place of the nonce. */
  readonly page: string;
  /** Files of `/assets`, by name. */
  readonly files: Readonly<Record<string, StudioFile>>;
  /** The files that the page loads before it shows something. */
  readonly first: readonly string[];
}

export interface ServedFile extends StudioFile {
  readonly etag: string;
  /** The content in the best accepted encoding. */
  readonly content: Buffer;
  readonly encoding: StudioEncoding | undefined;
}

const SUFFIX: Readonly<Record<StudioEncoding, string>> = { br: '.br', gzip: '.gz' };

export class BuiltStudio {
  readonly #folder: string;
  readonly #pageParts: readonly string[];
  readonly #files: ReadonlyMap<string, StudioFile>;
  /** Files that were asked for; a build has a few megabytes. */
  readonly #contents = new Map<string, Promise<Buffer | undefined>>();

  private constructor(folder: string, { page, files }: StudioManifest) {
    this.#folder = folder;
    this.#pageParts = page.split(NONCE_MARK);
    this.#files = new Map(Object.entries(files));
  }

  static async open(folder: string): Promise<BuiltStudio> {
    const manifest = JSON.parse(await readFile(path.join(folder, STUDIO_MANIFEST), 'utf8')) as StudioManifest;
    return new BuiltStudio(folder, manifest);
  }

  page(nonce: string): string {
    return this.#pageParts.join(nonce);
  }

  /**
   * `accepted`: the header `Accept-Encoding`. Returns undefined for a name that is not in the manifest, and for a file that
   * is gone: somebody has removed the build while the server ran.
   */
  async file(name: string, accepted: string): Promise<ServedFile | undefined> {
    const file = this.#files.get(name);
    if (file === undefined) return undefined;
    const encoding = file.encodings.find((one) => accepts(accepted, one));
    const suffix = encoding === undefined ? '' : SUFFIX[encoding];
    const etag = `"${file.integrity.slice('sha256-'.length)}${suffix}"`;
    const content = await this.#read(name + suffix);
    return content === undefined ? undefined : { ...file, etag, encoding, content };
  }

  #read(name: string): Promise<Buffer | undefined> {
    const known = this.#contents.get(name);
    if (known !== undefined) return known;
    const reading = readFile(path.join(this.#folder, 'assets', name)).catch((error: NodeJS.ErrnoException) => {
      // A file that could not be read is tried again.
      this.#contents.delete(name);
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    this.#contents.set(name, reading);
    return reading;
  }
}

/** Whether the header names the encoding, and not with a weight of 0. */
function accepts(header: string, encoding: StudioEncoding): boolean {
  return header.split(',').some((part) => {
    const [name = '', weight = 'q=1'] = part.split(';').map((word) => word.trim().toLowerCase());
    return name === encoding && Number(weight.slice('q='.length)) > 0;
  });
}
