import { describe, expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { Viewer } from '../login/viewer.ts'
import { StreamConnection, type TopicSource } from './connection.ts'
import type { Position } from './table.ts'
import { FakeSocket } from './testing.ts'
import { TopicRefused } from './topics.ts'

/** Topics that are granted unless `answers` has another answer. */
class FakeTopics implements TopicSource {
  readonly answers = new Map<string, Error | string>()
  /** Subscriptions and their ends: `+nodes`, `-nodes`. */
  readonly log: string[] = []
  asked = 0

  async grant(topic: string) {
    this.asked++
    const answer = this.answers.get(topic) ?? topic
    if (answer instanceof Error) throw answer
    return { key: answer, make: () => { throw new Error('unused') } }
  }

  subscribe({ key }: { key: string }, _: unknown, position?: Position) {
    this.log.push(`+${key}${position ? `@${position.revision}` : ''}`)
    return { key, position: () => ({ epoch: 'e', revision: 7, words: 0 }), end: () => void this.log.push(`-${key}`) }
  }

  get took(): string[] {
    return this.log.splice(0)
  }
}

function scene() {
  const clock = new VirtualClock(0)
  const socket = new FakeSocket()
  const topics = new FakeTopics()
  const session = new AbortController()
  new StreamConnection(socket as unknown as WebSocket, topics, { ended: session.signal } as Viewer, clock).start()
  return { clock, socket, topics, session, pass: (ms = 0) => clock.pass(ms) }
}

describe('StreamConnection', () => {
  it('subscribes to what the page wants, from its position, and ends what it no longer wants', async () => {
    const { socket, topics, pass } = scene()
    socket.wishes({ name: 'nodes', at: { epoch: 'e', revision: 3, words: 0 } }, { name: 'workloads' })
    await pass()
    expect(topics.took).toEqual(['+nodes@3', '+workloads'])
    socket.wishes({ name: 'workloads' })
    await pass()
    expect(topics.took).toEqual(['-nodes'])
    socket.close()
    await pass()
    expect(topics.took).toEqual(['-workloads'])
  })

  it('takes the first eight topics, answers an error for each further one, and stays open', async () => {
    const { socket, topics, pass } = scene()
    socket.wishes(...Array.from({ length: 10 }, (_, i) => ({ name: `t${i}` })))
    await pass()
    expect(topics.took).toHaveLength(8)
    expect(socket.texts.map((text) => JSON.parse(text))).toEqual(['t8', 't9'].map((c) => ({ c, error: 'a page may show at most 8 topics', code: 429 })))
    expect(socket.closed).toBeUndefined()
  })

  it.each([['no JSON', '{'], ['another message', '{"hello":1}'], ['topics without names', '{"topics":[null]}']])('closes after %s', async (_, text) => {
    const { socket, pass } = scene()
    socket.emit('message', Buffer.from(text))
    await pass()
    expect(socket.closed).toBe(1008)
  })

  it('leaves a subscription alone while the permissions are the same, and changes it with them', async () => {
    const { socket, topics, pass } = scene()
    socket.wishes({ name: 'workloads' })
    await pass(60_000)
    expect(topics.took).toEqual(['+workloads'])
    expect(topics.asked).toBe(4)
    topics.answers.set('workloads', 'workloads of shop')
    await pass(20_000)
    expect(topics.took).toEqual(['-workloads', '+workloads of shop@7'])
  })

  it('ends a subscription when the right is lost, and goes on when it is back', async () => {
    const { socket, topics, pass } = scene()
    socket.wishes({ name: 'nodes' })
    await pass()
    topics.answers.set('nodes', new TopicRefused('no'))
    await pass(20_000)
    expect(topics.took).toEqual(['+nodes', '-nodes'])
    expect(socket.texts).toEqual(['{"c":"nodes","error":"no","code":403}'])
    await pass(40_000)
    expect(socket.texts).toEqual([])
    topics.answers.clear()
    await pass(20_000)
    expect(topics.took).toEqual(['+nodes@7'])
  })

  it('keeps a subscription while the API server restarts, and says nothing', async () => {
    const { socket, topics, pass } = scene()
    socket.wishes({ name: 'nodes' })
    await pass()
    topics.answers.set('nodes', new Error('connect ECONNREFUSED'))
    await pass(50_000)
    topics.answers.clear()
    await pass(60_000)
    expect([topics.took, socket.texts]).toEqual([['+nodes'], []])
  })

  it('ends a subscription whose permissions could not be checked for a minute, and soon resumes it', async () => {
    const { socket, topics, pass } = scene()
    socket.wishes({ name: 'nodes' })
    await pass()
    topics.answers.set('nodes', new Error('connect ECONNREFUSED'))
    await pass(20_000 + 60_000)
    expect(topics.took).toEqual(['+nodes', '-nodes'])
    expect(socket.texts).toEqual(['{"c":"nodes","error":"connect ECONNREFUSED","code":503}'])
    topics.answers.clear()
    await pass(2000)
    expect(topics.took).toEqual(['+nodes@7'])
  })

  it('tries a failed first subscription again every two seconds, and tells its error once', async () => {
    const { socket, topics, pass } = scene()
    topics.answers.set('nodes', new Error('connect ECONNREFUSED'))
    socket.wishes({ name: 'nodes' })
    await pass(10_000)
    expect(topics.asked).toBe(6)
    expect(socket.texts).toHaveLength(1)
    topics.answers.clear()
    await pass(2000)
    expect(topics.took).toEqual(['+nodes'])
  })

  it('ends the connection of a client that does not answer a ping', async () => {
    const { socket, topics, pass } = scene()
    socket.wishes({ name: 'nodes' })
    await pass(60_000)
    expect([socket.pings, socket.closed]).toEqual([3, undefined])
    socket.answersPings = false
    await pass(40_000)
    expect(socket.closed).toBe(1006)
    expect(topics.took).toEqual(['+nodes', '-nodes'])
  })

  it('closes with the session', async () => {
    const { socket, session, pass } = scene()
    session.abort()
    await pass()
    expect(socket.closed).toBe(4401)
  })
})
