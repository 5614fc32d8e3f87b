import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { ClusterAccess } from '../../client/index.ts'
import { Sessions } from './sessions.ts'
import type { Viewer } from './viewer.ts'

const hourMs = 3_600_000

/** A viewer that ends when it is closed. */
class FakeViewer {
  readonly #ended = new AbortController()
  readonly ended = this.#ended.signal

  async close(): Promise<void> {
    this.#ended.abort()
  }
}

function scene() {
  const clock = new VirtualClock()
  const made: FakeViewer[] = []
  const server = { isAway: false }
  const sessions = new Sessions(async () => ({}) as ClusterAccess, clock, async () => {
    if (server.isAway) throw new Error('connect ECONNREFUSED')
    made.push(new FakeViewer())
    return made.at(-1) as unknown as Viewer
  })
  return { clock, made, server, sessions }
}

describe('Sessions', () => {
  it('opens one session with a key', async () => {
    const { made, sessions } = scene()
    const key = sessions.newKey()
    const id = await sessions.openByKey(key)
    expect(sessions.viewer(id!)).toBe(made[0])
    expect(await sessions.openByKey(key)).toBeUndefined()
    expect(await sessions.openByKey('')).toBeUndefined()
  })

  it('keeps the key of a login that has failed', async () => {
    const { server, sessions } = scene()
    const key = sessions.newKey()
    server.isAway = true
    await expect(sessions.openByKey(key)).rejects.toThrow('ECONNREFUSED')
    server.isAway = false
    expect(await sessions.openByKey(key)).toBeTypeOf('string')
    expect(await sessions.openByKey(key)).toBeUndefined()
  })

  it('does not restore a key after a newer one has been made', async () => {
    const { server, sessions } = scene()
    const old = sessions.newKey()
    server.isAway = true
    const failing = sessions.openByKey(old)
    const key = sessions.newKey()
    await expect(failing).rejects.toThrow('ECONNREFUSED')
    server.isAway = false
    expect(await sessions.openByKey(old)).toBeUndefined()
    expect(await sessions.openByKey(key)).toBeTypeOf('string')
  })

  it('does not let two logins share a key', async () => {
    const { sessions } = scene()
    const key = sessions.newKey()
    const ids = await Promise.all([sessions.openByKey(key), sessions.openByKey(key)])
    expect(ids.filter((id) => id !== undefined)).toHaveLength(1)
  })

  it('ends a session whose credentials the API server rejects', async () => {
    const { made, sessions } = scene()
    const id = await sessions.open({} as ClusterAccess)
    await made[0]!.close()
    expect(sessions.viewer(id)).toBeUndefined()
  })

  it('ends the viewer with the session', async () => {
    const { made, sessions } = scene()
    const id = await sessions.open({} as ClusterAccess)
    await sessions.close(id)
    expect([made[0]!.ended.aborted, sessions.viewer(id)]).toEqual([true, undefined])
  })

  it('ends a session without requests after twelve hours', async () => {
    const { clock, made, sessions } = scene()
    const id = await sessions.open({} as ClusterAccess)
    clock.advance(11 * hourMs)
    expect(sessions.viewer(id)).toBe(made[0])
    clock.advance(13 * hourMs)
    expect(sessions.viewer(id)).toBeUndefined()
  })

  it('has at most 200 sessions, and ends the oldest', async () => {
    const { sessions } = scene()
    const ids: string[] = []
    for (let i = 0; i < 201; i++) ids.push(await sessions.open({} as ClusterAccess))
    expect(ids.map((id) => sessions.viewer(id) !== undefined)).toEqual([false, ...ids.slice(1).map(() => true)])
  })
})
