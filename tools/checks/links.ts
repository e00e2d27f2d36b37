/** Every relative link in the documentation leads to a file and, where it has an anchor, to a heading. */
import path from 'node:path/posix';
import { linesOutsideFences } from './markdown.ts';
import type { Repository, Verdict } from './repository.ts';

interface Link {
  readonly target: string;
  readonly line: number;
}

export function checkLinks(repository: Repository): Verdict {
  const problems: string[] = [];
  const documents = repository.files.filter((file) => file.endsWith('.md'));
  const folders = new Set(repository.files.flatMap(foldersAbove));
  let links = 0;
  for (const file of documents) {
    for (const { target, line } of linksIn(repository.text(file))) {
      if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target)) continue;
      links += 1;
      const [name = '', anchor] = decodeURI(target).split('#', 2);
      const resolved = name === '' ? file : path.join(name.startsWith('/') ? '.' : path.dirname(file), name);
      const where = resolved.replace(/\/$/, '');
      if (!repository.has(where) && !folders.has(where)) problems.push(`${file}:${line} ${target} leads nowhere`);
      else if (anchor && where.endsWith('.md') && !anchorsOf(repository.text(where)).has(anchor.toLowerCase()))
        problems.push(`${file}:${line} ${target} is no heading of ${where}`);
    }
  }
  return { problems, summary: `${links} links in ${documents.length} documents` };
}

function foldersAbove(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return ['.', ...parts.map((_, i) => parts.slice(0, i + 1).join('/'))];
}

function linksIn(text: string): Link[] {
  const found: Link[] = [];
  for (const [line, source] of linesOutsideFences(text)) {
    const content = source.replace(/(`+)[^`].*?\1/g, '');
    for (const match of content.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+["'(][^)]*)?\)/g))
      found.push({ target: match[1]!, line });
    for (const match of content.matchAll(/^\s{0,3}\[[^\]^]+\]:\s+<?([^\s>]+)/g))
      found.push({ target: match[1]!, line });
    for (const match of content.matchAll(/<(?:a|img|source)\s[^>]*?(?:href|src|srcset)="([^"\s]+)/g))
      found.push({ target: match[1]!, line });
  }
  return found;
}

/** Headings as GitHub names them, and anchors written by hand. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const [, content] of linesOutsideFences(text)) {
    for (const match of content.matchAll(/<a\s[^>]*?(?:id|name)="([^"]+)"/g)) anchors.add(match[1]!.toLowerCase());
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(content)?.[1];
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
}

function slugOf(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]*>/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replace(/ /g, '-');
}
