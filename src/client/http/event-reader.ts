import { readerFor } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { forgetManagedFields } from '../forget-managed-fields.ts'
import type { WatchEvent } from '../transport.ts'
import { cutManagedFields } from './cut-managed-fields.ts'

/** How events begin whose object may be read in parts. */
const openings = ['{"type":"ADDED","object":{', '{"type":"MODIFIED","object":{', '{"type":"DELETED","object":{']
const specOpening = ',"spec":'
const statusOpening = ',"status":'
/** What closes the object and the event. */
const ending = '}}'

interface Part {
  text: string
  value: unknown
}

/** The spec and the status of an object as they were last read. */
interface Parts {
  spec: Part
  status: Part
}

type Read<T> = WatchEvent<T & KubeObject & { spec?: unknown; status?: unknown }>

/**
 * Reads the events of a watch. Most say of an object what the one before said, but for a part: what stands there in the same letters is not read again,
 * and events share it. As objects of a cache, they must not be changed.
 */
export class EventReader<T extends KubeObject> {
  /** By uid: of the objects that were read last, and of those before them. */
  #recent = new Map<string, Parts>()
  #before = new Map<string, Parts>()
  readonly #kept: number

  /** Keeps the parts of `kept` to twice as many objects. */
  constructor(kept = 512) {
    this.#kept = kept
  }

  /** Reads an event, whose object goes without managedFields. Throws what JSON.parse throws. */
  read(line: string): WatchEvent<T> {
    const parse = readerFor(line)
    const cut = cutManagedFields(line)
    const event = this.#readParts(cut, parse) ?? this.#readWhole(cut, line, parse)
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

  /** Undefined if it is not of a kind whose spec and status come last, as they do in most. */
  #readParts(line: string, parse: (text: string) => unknown): Read<T> | undefined {
    const specAt = line.indexOf(`${specOpening}{`)
    if (specAt < 0 || !openings.some((opening) => line.startsWith(opening)) || !line.endsWith(ending)) return undefined
    const statusAt = line.lastIndexOf(`${statusOpening}{`)
    if (statusAt < specAt) return undefined
    try {
      // Where one of the two stands deeper than it should, in the spec or in an annotation, the pieces are no JSON.
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
    if (this.#recent.size < this.#kept) return
    this.#before = this.#recent
    this.#recent = new Map()
  }
}

const partOf = (text: string, known: Part | undefined, parse: (text: string) => unknown): Part =>
  known?.text === text ? known : { text, value: parse(text) }
