import type * as Yaml from 'yaml'
import type { Document, LineCounter, Tags, YAMLError } from 'yaml'
import { isInt64 } from '../int64.ts'
import type { Json } from '../object.ts'
import { jsonText } from './exact.ts'
import type { Parsed } from './parse.ts'
import { JsonSyntaxError, exactNumber } from './syntax.ts'

export interface ParsedYaml extends Parsed {
  /** What was said twice, as Kubernetes tells it: `line 5: key "data" already set in map`. */
  repeated: string[]
}

// Go's words for what npm's parser reports by code; other codes keep the parser's words.
const goWords: Partial<Record<YAMLError['code'], string>> = {
  TAB_AS_INDENT: 'found character that cannot start any token',
  BLOCK_AS_IMPLICIT_KEY: 'mapping values are not allowed in this context',
  MULTILINE_IMPLICIT_KEY: "could not find expected ':'",
  MISSING_CHAR: "could not find expected ':'",
  BAD_INDENT: 'did not find expected key',
  UNEXPECTED_TOKEN: 'did not find expected node content',
  BAD_ALIAS: 'unknown anchor referenced',
}

/** Past this the parser recurses deeper than its stack; Go refuses at ten thousand. */
const maxFlowDepth = 500

/** Plain scalars as Go's parser reads them: YAML 1.1 without times of day and dates, which stay text. */
const withoutTimes = (tags: Tags): Tags =>
  tags.filter((tag) => {
    if (typeof tag === 'string') return true
    return tag.tag !== 'tag:yaml.org,2002:timestamp' && !('format' in tag && tag.format === 'TIME')
  })

/** Parses the first document of YAML as Kubernetes does. Throws JsonSyntaxError. */
export async function parseYaml(text: string): Promise<ParsedYaml> {
  const yaml = await import('yaml')
  if (flowDepth(text) > maxFlowDepth) throw new JsonSyntaxError('yaml: exceeded max depth')
  const lineCounter = new yaml.LineCounter()
  let document: Document.Parsed
  try {
    document = yaml.parseDocument(text, {
      version: '1.1', customTags: withoutTimes, merge: true, uniqueKeys: false, prettyErrors: false, logLevel: 'error', lineCounter,
      intAsBigInt: true,
    })
  } catch (e) {
    throw tooDeep(e)
  }
  const error = document.errors.find((e) => e.code !== 'MULTIPLE_DOCS')
  if (error?.message.includes('call stack')) throw tooDeep(new RangeError(error.message))
  if (error) throw new JsonSyntaxError(`yaml: ${lineOf(error.pos[0], lineCounter)}${goWords[error.code] ?? error.message}`)
  try {
    const value = document.toJS({ maxAliasCount: 100 }) as Json
    return { value: jsonable(value), duplicates: [], hasFractions: false, repeated: repeatedKeys(yaml, document, lineCounter) }
  } catch (e) {
    if (e instanceof ReferenceError) throw new JsonSyntaxError('yaml: document contains excessive aliasing')
    if (e instanceof Error && e.message.startsWith('Merge sources')) throw new JsonSyntaxError('yaml: map merge requires map or sequence of maps as the value')
    throw tooDeep(e)
  }
}

/** Go leaves the line out for the first one. */
function lineOf(offset: number, lines: LineCounter): string {
  const { line } = lines.linePos(offset)
  return line > 1 ? `line ${line}: ` : ''
}

function tooDeep(e: unknown): unknown {
  return e instanceof RangeError ? new JsonSyntaxError('yaml: exceeded max depth') : e
}

/** How deep brackets and braces could nest. Counts those in text too, which can only be too many. */
function flowDepth(text: string): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === 0x7b || c === 0x5b) deepest = Math.max(deepest, ++depth)
    else if ((c === 0x7d || c === 0x5d) && depth > 0) depth--
  }
  return deepest
}

/** What JSON can say of it: a number beyond it is refused, other things that YAML has become text. */
function jsonable(value: unknown): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value
    throw new JsonSyntaxError(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`)
  }
  if (typeof value === 'bigint') return wholeNumber(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (Array.isArray(value)) return value.map(jsonable)
  if (value instanceof Map) return jsonable(Object.fromEntries(value))
  if (value instanceof Set) return jsonable(Object.fromEntries([...value].map((key) => [key, null])))
  if (typeof value !== 'object') return null
  for (const [key, item] of Object.entries(value)) {
    const plain = jsonable(item)
    if (plain !== item) Object.defineProperty(value, key, { value: plain, enumerable: true, configurable: true, writable: true })
  }
  return value as Json
}

/** Go's parser has 64 bits for an integer, with or without a sign; it reads a longer one as a double. */
const wholeNumber = (value: bigint): number | bigint =>
  exactNumber(String(isInt64(value) || BigInt.asUintN(64, value) === value ? value : Number(value)))

function repeatedKeys(yaml: typeof Yaml, document: Document.Parsed, lines: LineCounter): string[] {
  const found: string[] = []
  yaml.visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        if (!yaml.isScalar(key) || key.value === '<<') continue
        if (seen.has(key.value)) {
          found.push(`line ${lines.linePos(key.range?.[0] ?? 0).line}: key ${jsonText(key.value)} already set in map`)
        }
        seen.add(key.value)
      }
    },
  })
  return found
}
