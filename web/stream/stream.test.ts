import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import { Stream, type StreamHost } from './stream.ts'

/** The server's end of a connection. */
class FakeSocket {
  readyState = 0
  readonly sent: { topics: { name: string; at?: unknown }[] }[] = []
  readonly #listeners = new Map<string, ((event: { data?: string }) => void)[]>()

  addEventListener(type: string, fn: (event: { data?: string }) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), fn])
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }

  open(): void {
    this.readyState = 1
    this.#tell('open', {})
  }

  says(message: object): void {
    this.#tell('message', { data: JSON.stringify(message) })
  }

  close(): void {
    this.readyState = 3
    this.#tell('close', {})
  }

  /** The topics of the last message. */
  get wished(): string[] {
    return this.sent.at(-1)!.topics.map(({ name }) => name)
  }

  #tell(type: string, event: { data?: string }): void {
    for (const fn of this.#listeners.get(type) ?? []) fn(event)
  }
}

function scene(code: number | undefined = 200) {
  const clock = new VirtualClock(0)
  const sockets: FakeSocket[] = []
  const seen = { logouts: 0 }
  const host: StreamHost = {
    connect() {
      sockets.push(new FakeSocket())
      return sockets.at(-1) as unknown as WebSocket
    },
    sessionCode: async () => code,
    after: (delayMs, fn) => clock.after(delayMs, fn),
    loggedOut: () => void seen.logouts++,
  }
  const stream = new Stream(host)
  stream.start()
  return { clock, sockets, stream, seen }
}

const frame = (topic: string, revision: number) => ({ c: topic, e: 'e', s: 1, r: revision, u: [[0], 'n', 'True', 0, '', 0, 0, '', '', '', 0] })

describe('Stream', () => {
  it('keeps a topic that is used again, however often it was released before', () => {
    const { clock, sockets, stream } = scene()
    sockets[0]!.open()
    stream.release(stream.use('nodes'))
    clock.advance(20_000)
    stream.release(stream.use('nodes'))
    clock.advance(15_000)
    const used = stream.use('nodes')
    clock.advance(60_000)
    expect(sockets[0]!.wished).toEqual(['nodes'])
    let heard = 0
    used.listeners.add(() => heard++)
    sockets[0]!.says({ c: 'nodes', error: 'no', code: 503 })
    expect(heard).toBe(1)
  })

  it('lets no timer of an ended topic end a newer one with the same name', () => {
    const { clock, sockets, stream } = scene()
    sockets[0]!.open()
    const first = stream.use('nodes')
    stream.release(first)
    clock.advance(30_000)
    expect(sockets[0]!.wished).toEqual([])
    const second = stream.use('nodes')
    expect(second).not.toBe(first)
    clock.advance(60_000)
    expect(sockets[0]!.wished).toEqual(['nodes'])
  })

  it('keeps at most four unused topics, the last that were used, and names used ones first', () => {
    const { clock, sockets, stream } = scene()
    sockets[0]!.open()
    for (let i = 0; i < 8; i++) stream.release(stream.use(`pods Deployment default/w${i}`))
    stream.use('workloads')
    expect(sockets[0]!.wished).toEqual(['workloads', ...[4, 5, 6, 7].map((i) => `pods Deployment default/w${i}`)])
    clock.advance(30_000)
    expect(sockets[0]!.wished).toEqual(['workloads'])
  })

  it('waits longer after each connection without a frame, and begins anew after one', async () => {
    const { clock, sockets, stream } = scene()
    stream.use('nodes')
    for (const waitMs of [250, 500, 1000, 2000, 5000, 5000]) {
      const before = sockets.length
      sockets.at(-1)!.open()
      sockets.at(-1)!.close()
      expect(stream.link).toBe('lost')
      await clock.pass(waitMs - 1)
      expect(sockets).toHaveLength(before)
      await clock.pass(1)
      expect(sockets).toHaveLength(before + 1)
    }
    sockets.at(-1)!.open()
    sockets.at(-1)!.says(frame('nodes', 3))
    const before = sockets.length
    sockets.at(-1)!.close()
    await clock.pass(250)
    expect(sockets).toHaveLength(before + 1)
    sockets.at(-1)!.open()
    expect(sockets.at(-1)!.sent).toEqual([{ topics: [{ name: 'nodes', at: { epoch: 'e', revision: 3, words: 0 } }] }])
  })

  it('has the code of a refusal, until a frame arrives', () => {
    const { sockets, stream } = scene()
    const topic = stream.use('nodes')
    sockets[0]!.open()
    sockets[0]!.says({ c: 'nodes', error: 'Unable to connect', code: 503 })
    expect(topic.error).toEqual({ message: 'Unable to connect', code: 503 })
    sockets[0]!.says(frame('nodes', 1))
    expect(topic.error).toBeUndefined()
  })

  it('reports a session that has ended, and does not connect again', async () => {
    const { clock, sockets, seen } = scene(401)
    sockets[0]!.close()
    await clock.pass(60_000)
    expect([seen.logouts, sockets.length]).toEqual([1, 1])
  })
})
