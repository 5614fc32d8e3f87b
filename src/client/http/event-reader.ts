import { readerFor } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { forgetManagedFields } from '../cache/forget-managed-fields.ts'
import type { WatchEvent } from '../transport/transport.ts'
import { cutManagedFields } from './cut-managed-fields.ts'

/** Prefixes of events whose object can be parsed in parts. */
const openings = ['{"type":"ADDED","object":{', '{"type":"MODIFIED","object":{', '{"type":"DELETED","object":{']
const specOpening = ',"spec":'
const statusOpening = ',"status":'
/** The closing brackets of object and event. */
const ending = '}}'

interface Part {
  text: string
  value: unknown
}

/** Spec and status of an object as last parsed. */
interface Parts {
  spec: Part
  status: Part
}

type Read<T> = WatchEvent<T & KubeObject & { spec?: unknown; status?: unknown }>

/**
 * Parses the events of a watch. Most events repeat most of the previous state of their object: a spec or status with
 * the same text is not parsed again, and events share it. Like cached objects, events must not be changed.
 */
export class EventReader<T extends KubeObject> {
  /** Parts by uid, in two generations: the most recently read objects, and those before. */
  #recent = new Map<string, Parts>()
  #before = new Map<string, Parts>()
  readonly #kept: number

  /** Keeps the parts of up to twice `kept` objects. */
  constructor(kept = 512) {
    this.#kept = kept
  }

  /** Parses an event and removes managedFields. Throws the errors of JSON.parse. */
  read(line: string): WatchEvent<T> {
    const parse = readerFor(line)
    const cut = cutManagedFields(line)
    const event = this.#readParts(cut, parse) ?? this.#readWhole(cut, line, parse)
    // A bookmark comes every minute: objects unchanged since the one before last are dropped.
    if (event.type === 'BOOKMARK') this.#age()
    const { object } = event
    if (object?.metadata?.managedFields) forgetManagedFields(object)
    return event
  }

  #readWhole(cut: string, line: string, parse: (text: string) => unknown): WatchEvent<T> {
    if (cut === line) return parse(line) as WatchEvent<T>
    try {
      return parse(cut) as WatchEvent<T>
    } catch {
      return parse(line) as WatchEvent<T>
    }
  }

  /**
   * Parses an event in parts. Returns undefined unless spec and status are the last members, as they are in most kinds.
   */
  #readParts(line: string, parse: (text: string) => unknown): Read<T> | undefined {
    const specAt = line.indexOf(`${specOpening}{`)
    if (specAt < 0 || !openings.some((opening) => line.startsWith(opening)) || !line.endsWith(ending)) return undefined
    const statusAt = line.lastIndexOf(`${statusOpening}{`)
    if (statusAt < specAt) return undefined
    try {
      // If one of the names was found at another depth, such as in an annotation, the pieces are invalid JSON.
      const event = parse(line.slice(0, specAt) + ending) as Read<T>
      const { uid } = event.object.metadata
      const known = uid === undefined ? undefined : (this.#recent.get(uid) ?? this.#before.get(uid))
      const spec = partOf(line.slice(specAt + specOpening.length, statusAt), known?.spec, parse)
      const status = partOf(line.slice(statusAt + statusOpening.length, -ending.length), known?.status, parse)
      event.object.spec = spec.value
      event.object.status = status.value
      if (uid !== undefined) this.#keep(uid, { spec, status })
      return event
    } catch {
      return undefined
    }
  }

  #keep(uid: string, parts: Parts): void {
    this.#recent.set(uid, parts)
    if (this.#recent.size >= this.#kept) this.#age()
  }

  #age(): void {
    this.#before = this.#recent
    this.#recent = new Map()
  }
}

const partOf = (text: string, known: Part | undefined, parse: (text: string) => unknown): Part =>
  known?.text === text ? known : { text, value: parse(text) }
