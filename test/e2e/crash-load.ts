import type { AckLedger } from '../store-crash-ledger.ts'
import type { ClientAnswer, TlsClient } from './tls-client.ts'

export const configMaps = '/api/v1/namespaces/default/configmaps'
const keysPerWriter = 3
const json = { 'content-type': 'application/json' }
const merge = { 'content-type': 'application/merge-patch+json' }

/** Content that tells which write made it, and whether it is whole. Some of it is long. */
const dataOf = (name: string, seq: number) => ({ seq: String(seq), body: `${name} ${seq} ${'x'.repeat((seq * 7919) % 5000)}` })

/** The write that made an object. Throws if its content is not that of any one write. */
export function seqOf(object: { metadata: { name: string }; data?: Record<string, string> }): number {
  const { name } = object.metadata
  const seq = Number(object.data?.seq)
  if (object.data?.body !== dataOf(name, seq).body) throw new Error(`the content of ${name} is damaged: ${JSON.stringify(object.data).slice(0, 100)}`)
  return seq
}

/** The state of an object that all writers patch, each a field of its own: what each has been told, and what it was trying. */
export class SharedFields {
  readonly #told = new Map<string, number>()
  readonly #tried = new Map<string, number>()

  try(field: string, seq: number): void {
    this.#tried.set(field, seq)
  }

  tell(field: string, seq: number): void {
    this.#told.set(field, seq)
  }

  /** Returns contradictions. Found writes count as known from now on, even if their writer got no response. */
  account(data: Record<string, string> = {}): string[] {
    return [...this.#tried].flatMap(([field, tried]) => {
      const found = Number(data[field] ?? 0)
      const told = this.#told.get(field) ?? 0
      this.#told.set(field, found)
      return found === told || found === tried ? [] : [`field ${field} is ${found}, but was ${told}, and ${tried} was tried`]
    })
  }
}

/** A server is killed long before one writer has written so often. */
const mostTurns = 100_000

/** Writes as fast as the server answers until it answers no more; `onAck` hears what each write made. Throws if any is refused. */
export async function keepWriting(client: TlsClient, writer: number, ledger: AckLedger, shared: SharedFields, nextSeq: () => number, onAck: (version: string | undefined) => void): Promise<void> {
  /** The newest version of each of its objects that it has been told of; absent if there is none. */
  const versions = new Map<string, string>()
  const { items } = JSON.parse((await client.http2({ path: `${configMaps}?labelSelector=writer%3D${writer}` })).text) as { items: { metadata: { name: string; resourceVersion: string } }[] }
  for (const { metadata } of items) versions.set(metadata.name, metadata.resourceVersion)

  for (let turn = 0; ; turn++) {
    if (turn === mostTurns) throw new Error(`the server still answers after ${mostTurns} writes of one writer`)
    const name = `w${writer}-${turn % keysPerWriter}`
    const seq = nextSeq()
    if (turn % 7 === 6) {
      const field = `w${writer}`
      shared.try(field, seq)
      const answer = expectOk(await client.http2({ method: 'PATCH', path: `${configMaps}/shared`, headers: merge, body: JSON.stringify({ data: { [field]: String(seq) } }) }))
      shared.tell(field, seq)
      onAck(versionOf(answer))
    } else {
      const version = versions.get(name)
      const isDelete = version !== undefined && turn % 5 === 4
      ledger.attempt(name, isDelete ? undefined : seq)
      const answer = expectOk(await (isDelete ? client.http2({ method: 'DELETE', path: `${configMaps}/${name}` }) : put(client, writer, name, seq, version, turn)))
      if (isDelete) versions.delete(name)
      else versions.set(name, versionOf(answer))
      ledger.acknowledge(name, Number(versions.get(name) ?? 0))
      onAck(versions.get(name))
    }
  }
}

function put(client: TlsClient, writer: number, name: string, seq: number, version: string | undefined, turn: number): Promise<ClientAnswer> {
  const data = dataOf(name, seq)
  const object = { metadata: { name, labels: { writer: String(writer) }, ...(version ? { resourceVersion: version } : {}) }, data }
  if (!version) return client.http2({ method: 'POST', path: configMaps, headers: json, body: JSON.stringify(object) })
  if (turn % 2) return client.http2({ method: 'PATCH', path: `${configMaps}/${name}`, headers: merge, body: JSON.stringify({ data }) })
  return client.http2({ method: 'PUT', path: `${configMaps}/${name}`, headers: json, body: JSON.stringify(object) })
}

const versionOf = ({ text }: ClientAnswer) => (JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion

function expectOk(answer: ClientAnswer): ClientAnswer {
  if (answer.code < 200 || answer.code > 299) throw new Error(`a write was answered with ${answer.code}: ${answer.text}`)
  return answer
}
