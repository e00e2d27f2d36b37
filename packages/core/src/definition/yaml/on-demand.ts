/** The `yaml` library, loaded by the first text that is not plain YAML: most processes never need it. */
import type * as Yaml from 'yaml';
import { loadModule } from '../../on-demand.ts';

export function yamlLibrary(): typeof Yaml {
  return loadModule<typeof Yaml>('yaml');
}

export function isAlias(node: unknown): node is Yaml.Alias.Parsed {
  return yamlLibrary().isAlias(node);
}

export function isMap(node: unknown): node is Yaml.YAMLMap.Parsed {
  return yamlLibrary().isMap(node);
}

export function isScalar(node: unknown): node is Yaml.Scalar.Parsed {
  return yamlLibrary().isScalar(node);
}

export function isSeq(node: unknown): node is Yaml.YAMLSeq.Parsed {
  return yamlLibrary().isSeq(node);
}
