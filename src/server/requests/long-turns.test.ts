import { afterEach, describe, expect, it, vi } from 'vitest'
import { Logger } from '../../base/logger.ts'
import type { AdmissionPlugin } from '../admission/admission.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from '../verbs/create.ts'
import { type NotesTurns, inOneTurn } from './long-turns.ts'

afterEach(() => vi.restoreAllMocks())

/** Each look at the time is so much later than the one before. */
const passing = (ms: number) => {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (now += ms))
}

describe('inOneTurn()', () => {
  it('notes the longest part that took longer than the limit, also of one that fails', () => {
    const notes: NotesTurns = {}
    passing(50)
    expect(inOneTurn(notes, 'parse', () => 1)).toBe(1)
    expect(notes.longTurn).toBeUndefined()
    passing(300)
    expect(() => inOneTurn(notes, 'decode', () => {
      throw new Error('no')
    })).toThrow('no')
    passing(200)
    inOneTurn(notes, 'write', () => 1)
    expect(notes.longTurn).toEqual({ part: 'decode', ms: 300 })
  })
})

describe('a request that holds the event loop', () => {
  it('is named in the log and counted, once', async () => {
    const lines: Record<string, unknown>[] = []
    const trial = await ServerTrial.open({ logger: new Logger((line) => lines.push(JSON.parse(line) as Record<string, unknown>)) })
    const map = { metadata: { name: 'slow' } }
    passing(150)
    await trial.run('POST', '/api/v1/namespaces/default/configmaps', map, { name: 'ali', groups: [] })
    await expect(trial.run('POST', '/api/v1/namespaces/default/configmaps', map)).rejects.toThrow('already exists')
    vi.restoreAllMocks()
    await trial.run('GET', '/api/v1/namespaces/default/configmaps/slow')
    const told = lines.filter(({ msg }) => msg === 'a request blocked the event loop')
    expect(told).toMatchObject([
      { level: 'warn', verb: 'POST', resource: 'configmaps', user: 'ali', part: expect.any(String), ms: expect.any(Number) },
      { user: 'tester', bytes: Buffer.byteLength(JSON.stringify(map)) },
    ])
    const text = trial.server.metrics.text()
    expect(text).toContain('coxswain_long_turns_total{verb="POST",group="",resource="configmaps",subresource="",part="write"} 2')
  })

  it('is named if it only reads', async () => {
    const lines: Record<string, unknown>[] = []
    const trial = await ServerTrial.open({ logger: new Logger((line) => lines.push(JSON.parse(line) as Record<string, unknown>)) })
    passing(60)
    await trial.run('GET', '/api/v1/namespaces/default/configmaps', undefined, { name: 'ali', groups: [] })
    vi.restoreAllMocks()
    expect(lines).toMatchObject([{ msg: 'a request blocked the event loop', verb: 'LIST', resource: 'configmaps', user: 'ali', part: 'read', ms: 60 }])
  })

  it.each([
    ['a short one', undefined, 'write'],
    ['a long one, whose stages are turns of their own', () => Promise.resolve(), 'write: mutating admission'],
  ])('is told with the part that took 200 ms: %s', async (_, giveWay, part) => {
    let now = 0
    const slow: AdmissionPlugin = { name: 'Slow', admit: ({ object }) => void (object?.metadata.name === 'slow' && (now += 200)) }
    const trial = await ServerTrial.open({ admission: [slow] })
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const request = trial.request('/api/v1/namespaces/default/configmaps', { metadata: { name: 'slow' } })
    if (giveWay) request.body.giveWay = giveWay
    await create(request)
    expect(request.body.longTurn).toEqual({ part, ms: 200 })
  })
})
