import { JsonSyntaxError, jsonText, parseYaml, readJson } from '../../api/json/index.ts'
import type { Json } from '../../api/object.ts'
import { ProtobufError, decodeProtobuf, openEnvelope } from '../../api/protobuf/index.ts'
import { structOf } from '../../api/schema/index.ts'
import { yamlWriter } from '../http/answer/yaml-text.ts'
import { countValues } from './count-values.ts'

/** A YAML or protobuf body. */
export interface ForeignBody {
  format: 'yaml' | 'protobuf'
  bytes: Uint8Array
  /** The schema type of a protobuf message. Without it, only the kind is decoded. */
  typeName: string | undefined
  /** The maximum number of values in the body. */
  maxValues: number
}

/** A value to write as YAML, in JSON. */
export interface YamlAnswer {
  format: 'to yaml'
  bytes: Uint8Array
}

/** The JSON of a body, or the YAML of an answer, or the reason why there is none. */
export type Converted =
  | { kind: 'json'; text: Uint8Array; repeated: string[] }
  | { kind: 'malformed'; message: string }
  | { kind: 'crowded' }

class CrowdedError extends Error {}

const refuse = (): never => {
  throw new CrowdedError('too many values')
}

/** Decodes a protobuf body. The content of another kind is not decoded, since the kind alone leads to an error. */
export function readProtobuf(bytes: Buffer, typeName: string | undefined): { [key: string]: Json } {
  const { apiVersion, kind, raw } = openEnvelope(bytes)
  const isExpected = typeName !== undefined && structOf(typeName)?.goName === kind
  return { ...(isExpected ? decodeProtobuf(raw, typeName) : {}), apiVersion, kind }
}

/** Writes a value as YAML. */
export async function writeAnswer({ bytes }: YamlAnswer): Promise<Converted> {
  const write = await yamlWriter()
  const value = readJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
  return { kind: 'json', text: Buffer.from(write(value)), repeated: [] }
}

/** Converts a body to JSON. It depends on nothing but its argument, so any thread can run it. */
export function convertBody({ format, bytes, typeName, maxValues }: ForeignBody): Converted {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    if (format === 'protobuf') {
      const text = Buffer.from(jsonText(readProtobuf(buffer, typeName)))
      return countValues(text, maxValues) > maxValues ? { kind: 'crowded' } : { kind: 'json', text, repeated: [] }
    }
    // Keys count as nodes, too.
    const { value, repeated } = parseYaml(buffer.toString(), { nodes: 2 * maxValues, refuse })
    return { kind: 'json', text: Buffer.from(jsonText(value)), repeated }
  } catch (e) {
    if (e instanceof CrowdedError) return { kind: 'crowded' }
    if (e instanceof JsonSyntaxError || e instanceof ProtobufError) return { kind: 'malformed', message: e.message }
    throw e
  }
}
