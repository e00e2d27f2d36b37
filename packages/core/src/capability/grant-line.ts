import type { CapabilityList } from './pattern.ts';

/** The YAML line that grants the entry. */
export function grantLine(list: CapabilityList, entry: string): string {
  const [kind, access] = list.split('.');
  const entries = `[${plainYaml(entry)}]`;
  return `config: { capabilities: { ${kind}: ${access === undefined ? entries : `{ ${access}: ${entries} }`} } }`;
}

/** Quotes the text unless it is certainly a plain scalar in YAML. */
function plainYaml(text: string): string {
  const isPlain = /^[A-Za-z_/][\w./-]*(:\d+)?$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
