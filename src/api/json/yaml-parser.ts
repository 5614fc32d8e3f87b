import { type Json, isFields } from '../object.ts'
import { jsonText } from './exact.ts'
import { JsonSyntaxError, setKey } from './syntax.ts'
import { YamlReader } from './yaml-reader.ts'
import { plainScalar, taggedScalar } from './yaml-scalars.ts'

type Fields = { [key: string]: Json }

/**
 * The maximum nesting of collections that recursion handles safely, here and in callers that traverse the value. Go
 * allows ten thousand.
 */
const maxDepth = 1000
/**
 * The maximum number of values, and of characters in scalars, that aliases and merge keys may add to a document. No
 * object that can be stored has more.
 */
const maxAdded = 100_000
const maxAddedChars = 3 << 20
/** libyaml's limit for the length of an implicit key. */
const maxKeyLength = 1024
/** The maximum number of reported duplicate keys. Go reports all. */
const maxRepeated = 100

const dash = 0x2d
const colon = 0x3a
const question = 0x3f
const comma = 0x2c
const star = 0x2a
const pipe = 0x7c
const greater = 0x3e
const doubleQuote = 0x22
const singleQuote = 0x27
const openList = 0x5b
const closeList = 0x5d
const openMap = 0x7b
const closeMap = 0x7d

/** An anchored value, and the size that an alias for it adds. `value` is undefined while the node is being parsed. */
interface Anchor {
  value?: Json
  nodes: number
  chars: number
}

/** The properties of a node: its anchor and its tag. */
interface Properties {
  anchor: string
  tag: string
}

const noProperties: Properties = { anchor: '', tag: '' }

/** A parsed key before it is converted to a field name. */
interface Key {
  value: Json
  /** True for an unquoted `<<`: the value is merged into the map. */
  isMerge: boolean
}

/** The maximum number of nodes of a text, keys included, and the error if there are more. */
export interface NodeLimit {
  readonly nodes: number
  refuse(): never
}

/** The position of a block collection: on a new line, or on the line of another indicator. */
type Start = 'new line' | 'same line'

/**
 * Parses the first document of a YAML text to a JSON value as sigs.k8s.io/yaml does. It builds only the value, in time
 * and memory linear in the text. Block and flow style share the position, the anchors and the limits, so the parser is
 * one class although it is long.
 */
export class YamlParser {
  readonly #in: YamlReader
  readonly #anchors = new Map<string, Anchor>()
  readonly #repeated: { at: number; key: Json }[] = []
  #depth = 0
  #nodes = 0
  #chars = 0
  #added = 0
  #addedChars = 0

  readonly #limit: NodeLimit | undefined

  constructor(text: string, limit?: NodeLimit) {
    this.#in = new YamlReader(text)
    this.#limit = limit
  }

  /** Counts one node against the limit. */
  #count(): void {
    if (++this.#nodes > (this.#limit?.nodes ?? Number.POSITIVE_INFINITY)) this.#limit!.refuse()
  }

  document(): Json {
    const reader = this.#in
    this.#directives()
    const value = reader.isAtEnd ? null : this.#block(-1, 'new line', false)
    reader.skipToContent()
    if (!reader.isAtEnd) this.#fail('did not find expected <document start>')
    return value
  }

  /** True if an alias or a merge key made part of the value occur twice. */
  get hasShared(): boolean {
    return this.#added > 0
  }

  /** Duplicate keys in Kubernetes' words. */
  repeated(): string[] {
    return this.#repeated.map(({ at, key }) => `line ${this.#in.lineOf(at)}: key ${jsonText(key)} already set in map`)
  }

  #fail(problem: string, at?: number): never {
    return this.#in.fail(problem, at)
  }

  /** Skips directives and the document start marker. */
  #directives(): void {
    const reader = this.#in
    reader.skipToContent()
    let isDirected = false
    while (reader.code() === 0x25 && reader.column === 0) {
      isDirected = true
      reader.at = reader.lineEnd()
      reader.skipToContent()
    }
    if (reader.isAtEnd && reader.code() === dash) {
      reader.at += 3
      reader.skipBlanks()
    } else if (isDirected) {
      this.#fail('did not find expected <document start>')
    }
  }

  #deeper(): void {
    if (++this.#depth > maxDepth) throw new JsonSyntaxError('yaml: exceeded max depth')
  }

  /**
   * A node in a block collection with indentation `indent`. With `mayBeLevel`, a list may begin at that same column, as
   * the value of a key may.
   */
  #block(indent: number, start: Start, mayBeLevel: boolean): Json {
    const reader = this.#in
    let from: Start = reader.skipToContent() ? 'new line' : start
    if (!this.#isInside(indent, from, mayBeLevel)) return this.#null()
    let column = reader.column
    let outer = noProperties
    let inner = this.#properties(false)
    if (inner !== noProperties && reader.skipToContent()) {
      // Properties on a separate line belong to the whole node; those directly before a key belong to the key.
      outer = inner
      from = 'new line'
      if (!this.#isInside(indent, from, mayBeLevel)) return this.#emptyScalar(outer)
      column = reader.column
      inner = this.#properties(false)
    }
    return this.#content(indent, from, outer, inner, column)
  }

  /** True if the current position belongs to a collection of this indentation. */
  #isInside(indent: number, from: Start, mayBeLevel: boolean): boolean {
    const reader = this.#in
    if (reader.isAtEnd) return false
    if (from === 'same line' || reader.column > indent) return true
    return mayBeLevel && reader.column === indent && reader.isIndicator(dash)
  }

  /** A node after its properties, which begin at `column`. */
  #content(indent: number, from: Start, outer: Properties, inner: Properties, column: number): Json {
    const reader = this.#in
    const { at, lineStart } = reader
    const code = reader.code()
    const whole = inner === noProperties ? outer : inner
    if (code === dash && reader.isIndicator(dash)) {
      if (from === 'same line') this.#fail('block sequence entries are not allowed in this context')
      return this.#named(whole, () => this.#blockList(column))
    }
    if ((code === question || code === colon) && reader.isIndicator(code)) {
      if (from === 'same line') this.#fail('mapping values are not allowed in this context')
      return this.#named(outer, () =>
        this.#blockMap(column, code === colon ? { value: this.#emptyScalar(inner), isMerge: false } : undefined, at),
      )
    }
    if (code === pipe || code === greater) return this.#scalar(whole, reader.blockScalar(indent), false)
    const node = this.#inline(whole, indent)
    reader.skipBlanks()
    if (reader.code() !== colon || !reader.isIndicator(colon)) return node(whole).value
    if (from === 'same line' || reader.lineStart !== lineStart)
      this.#fail('mapping values are not allowed in this context')
    if (reader.at - at > maxKeyLength) this.#fail("could not find expected ':'", at)
    return this.#named(outer, () => this.#blockMap(column, node(inner), at))
  }

  /** Parses a node that may be a key. The caller supplies its properties after it knows whether a colon follows. */
  #inline(whole: Properties, indent: number): (own: Properties) => Key {
    const reader = this.#in
    const code = reader.code()
    if (code === star) {
      const value = this.#alias()
      return () => ({ value, isMerge: false })
    }
    if (code === openList || code === openMap) {
      const value = this.#named(whole, () => this.#flowCollection())
      return () => ({ value, isMerge: false })
    }
    if (code === doubleQuote || code === singleQuote) {
      const text = reader.quoted()
      return (own) => ({ value: this.#scalar(own, text, false), isMerge: false })
    }
    if (!this.#beginsPlain(code, false)) {
      const isReserved = code === 0x25 || code === 0x40 || code === 0x60
      this.#fail(isReserved ? 'found character that cannot start any token' : 'did not find expected node content')
    }
    const first = reader.plainLine(false)
    const text = this.#isKeyAhead() ? first : reader.plainRest(first, indent, false)
    return (own) => ({ value: this.#scalar(own, text, true), isMerge: text === '<<' && own.tag === '' })
  }

  /** True if only blanks precede a colon. */
  #isKeyAhead(): boolean {
    const reader = this.#in
    const at = reader.at
    reader.skipBlanks()
    const isKey = reader.isIndicator(colon)
    if (!isKey) reader.at = at
    return isKey
  }

  #blockList(indent: number): Json {
    const reader = this.#in
    this.#deeper()
    const list: Json[] = []
    for (;;) {
      reader.at++
      list.push(this.#block(indent, 'new line', false))
      reader.skipToContent()
      if (reader.isAtEnd || reader.column < indent) break
      if (reader.column > indent) this.#fail("did not find expected '-' indicator")
      if (!reader.isIndicator(dash)) break
    }
    this.#depth--
    return list
  }

  /** A map. Its first key may have been parsed already. */
  #blockMap(indent: number, first: Key | undefined, firstAt: number): Json {
    const reader = this.#in
    this.#deeper()
    const out: Fields = {}
    const merged: Json[] = []
    let key = first
    let keyAt = firstAt
    for (;;) {
      key ??= this.#blockKey(indent)
      let valueAt = keyAt
      let value: Json
      if (reader.isIndicator(colon)) {
        reader.at++
        reader.skipBlanks()
        valueAt = reader.at
        value = this.#block(indent, 'same line', true)
      } else {
        value = this.#null()
      }
      this.#put(out, key, value, valueAt, merged)
      reader.skipToContent()
      if (reader.isAtEnd || reader.column < indent) break
      if (reader.column > indent)
        this.#fail(
          reader.isIndicator(colon) ? 'mapping values are not allowed in this context' : 'did not find expected key',
        )
      if (reader.isIndicator(dash)) this.#fail('did not find expected key')
      key = undefined
      keyAt = reader.at
    }
    this.#depth--
    return this.#withMerged(out, merged)
  }

  /** The key of the next entry of a block map, up to its colon. */
  #blockKey(indent: number): Key {
    const reader = this.#in
    if (reader.isIndicator(question)) {
      reader.at++
      const value = this.#block(indent, 'new line', true)
      const at = reader.at
      const { lineStart } = reader
      reader.skipToContent()
      if (!reader.isIndicator(colon) || reader.column !== indent) {
        reader.at = at
        reader.lineStart = lineStart
        if (reader.isIndicator(colon)) this.#fail('mapping values are not allowed in this context')
      }
      return { value, isMerge: false }
    }
    if (reader.isIndicator(colon)) return { value: null, isMerge: false }
    const at = reader.at
    const line = reader.lineStart
    const properties = this.#properties(false)
    if (properties !== noProperties) reader.skipBlanks()
    const key = this.#inline(properties, indent)
    reader.skipBlanks()
    if (!reader.isIndicator(colon) || reader.lineStart !== line || reader.at - at > maxKeyLength)
      this.#fail("could not find expected ':'")
    return key(properties)
  }

  /** Parses anchors and tags. Returns `noProperties` if there are none. */
  #properties(isFlow: boolean): Properties {
    const reader = this.#in
    let found = noProperties
    for (;;) {
      const code = reader.code()
      if (code === 0x26 && found.anchor === '') found = { ...found, anchor: reader.anchorName() }
      else if (code === 0x21 && found.tag === '') found = { ...found, tag: reader.tag(isFlow) }
      else return found
      reader.skipBlanks()
    }
  }

  #alias(): Json {
    const reader = this.#in
    const start = reader.at
    const name = reader.anchorName()
    const anchor = this.#anchors.get(name)
    if (!anchor) this.#fail(`unknown anchor '${name.slice(0, 100)}' referenced`, start)
    if (anchor.value === undefined) this.#fail(`anchor '${name.slice(0, 100)}' value contains itself`, start)
    this.#add(anchor.nodes, anchor.chars)
    return anchor.value
  }

  /** Counts nodes and characters that an alias or merge key adds. */
  #add(nodes: number, chars: number): void {
    this.#added += nodes
    this.#addedChars += chars
    this.#nodes += nodes
    this.#chars += chars
    if (this.#added > maxAdded || this.#addedChars > maxAddedChars)
      throw new JsonSyntaxError('yaml: document contains excessive aliasing')
  }

  /** Creates a node and registers its anchor. */
  #named(properties: Properties, make: () => Json): Json {
    this.#count()
    if (properties.anchor === '') return make()
    const nodes = this.#nodes - 1
    const chars = this.#chars
    const anchor: Anchor = { nodes: 0, chars: 0 }
    this.#anchors.set(properties.anchor, anchor)
    const value = make()
    anchor.value = value
    anchor.nodes = this.#nodes - nodes
    anchor.chars = this.#chars - chars
    return value
  }

  #scalar(properties: Properties, text: string, isPlain: boolean): Json {
    if (properties === noProperties) {
      this.#count()
      this.#chars += text.length
      return isPlain ? plainScalar(text) : text
    }
    return this.#named(properties, () => {
      this.#chars += text.length
      return taggedScalar(properties.tag, text, isPlain)
    })
  }

  #null(): null {
    this.#count()
    return null
  }

  #emptyScalar(properties: Properties): Json {
    return this.#scalar(properties, '', true)
  }

  #put(out: Fields, key: Key, value: Json, valueAt: number, merged: Json[]): void {
    if (key.isMerge) {
      merged.push(value)
      return
    }
    const name = this.#fieldName(key.value)
    if (Object.hasOwn(out, name) && this.#repeated.length < maxRepeated)
      this.#repeated.push({ at: valueAt, key: key.value })
    setKey(out, name, value)
  }

  #fieldName(key: Json): string {
    if (typeof key === 'string') return key
    if (key === null) throw new JsonSyntaxError('unsupported map key of type: invalid, key: <nil>')
    if (typeof key === 'object') throw new JsonSyntaxError('yaml: invalid map key')
    return String(key)
  }

  /** Adds the fields of merge keys that the map does not have. The first source wins. */
  #withMerged(out: Fields, merged: readonly Json[]): Json {
    for (const source of merged) {
      for (const map of Array.isArray(source) ? source : [source]) {
        if (!isFields(map)) throw new JsonSyntaxError('yaml: map merge requires map or sequence of maps as the value')
        const keys = Object.keys(map)
        this.#add(keys.length, 0)
        for (const key of keys) if (!Object.hasOwn(out, key)) setKey(out, key, map[key]!)
      }
    }
    return out
  }

  #flowCollection(): Json {
    this.#deeper()
    const value = this.#in.code() === openList ? this.#flowList() : this.#flowMap()
    this.#depth--
    return value
  }

  /** Skips to the next token of a flow collection, which must not be the end of the document. */
  #nextInFlow(what: string): number {
    const reader = this.#in
    reader.skipToContent(true)
    if (reader.isAtEnd) this.#fail(`did not find expected ',' or '${what}'`)
    return reader.code()
  }

  #flowList(): Json {
    const reader = this.#in
    const list: Json[] = []
    reader.at++
    for (;;) {
      if (this.#nextInFlow(']') === closeList) break
      const at = reader.at
      const isPair = reader.isIndicator(question)
      const key = isPair ? this.#explicitFlowKey() : this.#flowNode()
      if (isPair || this.#isFlowColon()) list.push(this.#pair(key, at))
      else list.push(key.value)
      const next = this.#nextInFlow(']')
      if (next === closeList) break
      if (next !== comma) this.#fail("did not find expected ',' or ']'")
      reader.at++
    }
    reader.at++
    return list
  }

  /** A map of one entry in a flow list, which needs no braces. */
  #pair(key: Key, at: number): Json {
    const out: Fields = {}
    const merged: Json[] = []
    this.#count()
    this.#put(out, key, this.#flowValue(), at, merged)
    return this.#withMerged(out, merged)
  }

  #flowMap(): Json {
    const reader = this.#in
    const out: Fields = {}
    const merged: Json[] = []
    reader.at++
    for (;;) {
      if (this.#nextInFlow('}') === closeMap) break
      const key = reader.isIndicator(question) ? this.#explicitFlowKey() : this.#flowNode()
      const valueAt = reader.at
      this.#put(out, key, this.#flowValue(), valueAt, merged)
      const next = this.#nextInFlow('}')
      if (next === closeMap) break
      if (next !== comma) this.#fail("did not find expected ',' or '}'")
      reader.at++
    }
    reader.at++
    return this.#withMerged(out, merged)
  }

  #explicitFlowKey(): Key {
    this.#in.at++
    const code = this.#nextInFlow('}')
    if (code === colon || code === comma || code === closeMap || code === closeList)
      return { value: null, isMerge: false }
    return this.#flowNode()
  }

  #isFlowColon(): boolean {
    this.#in.skipToContent(true)
    return this.#in.code() === colon
  }

  /** The value after the colon of a flow entry; null if there is none. */
  #flowValue(): Json {
    if (!this.#isFlowColon()) return this.#null()
    const reader = this.#in
    reader.at++
    const code = this.#nextInFlow('}')
    return code === comma || code === closeMap || code === closeList ? this.#null() : this.#flowNode().value
  }

  #flowNode(): Key {
    const reader = this.#in
    const properties = this.#properties(true)
    if (properties !== noProperties) reader.skipToContent(true)
    const code = reader.code()
    switch (code) {
      case star:
        return { value: this.#alias(), isMerge: false }
      case doubleQuote:
      case singleQuote:
        return { value: this.#scalar(properties, reader.quoted(), false), isMerge: false }
      case openList:
      case openMap:
        return { value: this.#named(properties, () => this.#flowCollection()), isMerge: false }
      case colon:
        return { value: this.#emptyScalar(properties), isMerge: false }
      default: {
        if (!this.#beginsPlain(code, true)) {
          if (properties !== noProperties) return { value: this.#emptyScalar(properties), isMerge: false }
          this.#fail('did not find expected node content')
        }
        const first = reader.plainLine(true)
        const text = reader.plainRest(first, -1, true)
        return { value: this.#scalar(properties, text, true), isMerge: text === '<<' && properties.tag === '' }
      }
    }
  }

  /** True if a plain scalar can begin with this character. */
  #beginsPlain(code: number, isFlow: boolean): boolean {
    switch (code) {
      case dash:
        return !this.#in.isIndicator(dash)
      case question:
      case colon:
        return !isFlow && !this.#in.isIndicator(code)
      case comma:
      case openList:
      case closeList:
      case openMap:
      case closeMap:
      case 0x23: // #
      case 0x26: // &
      case 0x2a: // *
      case 0x21: // !
      case 0x7c: // |
      case 0x3e: // >
      case 0x27: // '
      case 0x22: // "
      case 0x25: // %
      case 0x40: // @
      case 0x60: // `
        return false
      default:
        return code === code
    }
  }
}
