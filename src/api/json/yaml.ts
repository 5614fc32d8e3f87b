import type { Parsed } from './parse.ts'
import { type NodeLimit, YamlParser } from './yaml-parser.ts'

interface ParsedYaml extends Parsed {
  /** Duplicate keys in Kubernetes' words: `line 5: key "data" already set in map`. */
  repeated: string[]
  /** True if no part of the value is shared, so that it may be changed in place. */
  isOwned: boolean
}

/** Parses the first document of YAML as Kubernetes does. Throws JsonSyntaxError. */
export function parseYaml(text: string, limit?: NodeLimit): ParsedYaml {
  const parser = new YamlParser(text, limit)
  const value = parser.document()
  return { value, duplicates: [], hasFractions: false, repeated: parser.repeated(), isOwned: !parser.hasShared }
}
