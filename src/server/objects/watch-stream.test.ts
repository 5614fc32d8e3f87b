import { beforeEach, describe, expect, it } from 'vitest'
import type { ApiError } from '../../api/errors.ts'
import { ServerTrial } from '../server-trial.ts'
import type { StoredObject } from './stored-object.ts'
import { create } from '../verbs/create.ts'
import { type WatchReceiver, startWatch, visibleEvent } from './watch-stream.ts'
import type { WatchSpec } from '../requests/request.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const prefix = '/registry/configmaps/default/'

class Notes implements WatchReceiver {
  readonly said: string[] = []
  fails = false
  initial(objects: readonly StoredObject[]): void {
    this.said.push(`initial ${objects.map((o) => o.object.metadata.name).join()}`)
  }
  events(events: Parameters<WatchReceiver['events']>[0]): void {
    if (this.fails) throw new Error('cannot be encoded')
    this.said.push(...events.map((e) => `${e.type} ${e.object.object.metadata.name}`))
  }
  bookmark(_revision: number, isInitialEnd: boolean): void {
    this.said.push(isInitialEnd ? 'end of initial' : 'bookmark')
  }
  error(error: ApiError): void {
    this.said.push(`error ${error.code}`)
  }
  end(): void {
    this.said.push('end')
  }
}

let trial: ServerTrial
const make = (name: string) => create(trial.request(configMaps, { metadata: { name } }))
const rest = () => new Promise((resolve) => setImmediate(resolve))

function watch(spec: Partial<WatchSpec>, notes = new Notes()) {
  const { parts, clock } = trial
  const target = parts.registry.find('v1', 'configmaps')!
  const stop = startWatch(parts.objects, target, { prefix, matches: undefined, from: parts.objects.revision, initial: 'none', bookmarks: false, timeoutMs: undefined, ...spec }, notes, clock)
  return { notes, stop, said: notes.said }
}

beforeEach(async () => {
  trial = await ServerTrial.open()
})

/** Each turn is spent by the first who asks; `between` runs while the next is waited for. */
const spentTurns = (between: () => Promise<unknown>) => ({ isSpent: true, next: async () => void (await between()) })

describe('startWatch()', () => {
  it('chooses what is there in slices, and tells what happens meanwhile behind it', async () => {
    for (let i = 0; i < 40; i++) await make(`a-${i}`)
    let made = 0
    const turns = spentTurns(() => make(`b-${made++}`))
    const clock = { now: () => trial.clock.now(), after: () => () => {}, turns }
    const notes = new Notes()
    const spec: WatchSpec = { prefix, matches: () => true, from: 0, initial: 'events and bookmark', bookmarks: false, timeoutMs: undefined }
    startWatch(trial.parts.objects, trial.parts.registry.find('v1', 'configmaps')!, spec, notes, clock)
    expect(notes.said).toEqual([])
    await rest()
    await make('c')
    expect(notes.said[0]!.split(',')).toHaveLength(40)
    expect(notes.said.slice(1)).toEqual(['end of initial', 'ADDED b-0', 'ADDED b-1', 'ADDED c'])
  })

  it('ends if what is there cannot be chosen', async () => {
    await make('a')
    const { said } = watch({ initial: 'events', matches: () => { throw new Error('no') } })
    await make('b')
    expect(said).toEqual(['error 500', 'end'])
    expect(trial.parts.objects.cache(trial.parts.registry.find('v1', 'configmaps')!).listeners).toBe(0)
  })

  it('replays history as fast as the receiver takes it, and misses nothing', async () => {
    const from = trial.parts.objects.revision
    for (let i = 0; i < 1500; i++) await make(`a-${i}`)
    const waiting: (() => void)[] = []
    const notes = Object.assign(new Notes(), { hasRoom: (resume: () => void) => waiting.push(resume) < 0 })
    watch({ from }, notes)
    for (let i = 0; i < 20; i++) await rest()
    expect(notes.said).toHaveLength(500)
    expect(waiting).toHaveLength(1)
    for (let resumed = 0; resumed < waiting.length && resumed < 100; resumed++) {
      waiting[resumed]!()
      await rest()
    }
    await make('last')
    expect(notes.said).toEqual([...Array.from({ length: 1500 }, (_, i) => `ADDED a-${i}`), 'ADDED last'])
  })

  it('tells what is there, the end of that, and what comes', async () => {
    await make('a')
    const { said } = watch({ initial: 'events and bookmark' })
    await make('b')
    expect(said).toEqual(['initial a', 'end of initial', 'ADDED b'])
  })

  it('tells nothing that the beginning has told already, though the watch was asked for earlier', async () => {
    const from = trial.parts.objects.revision
    await make('a')
    const { said } = watch({ initial: 'events', from })
    await make('b')
    await rest()
    expect(said).toEqual(['initial a', 'ADDED b'])
  })

  it('replays history, and goes on', async () => {
    const from = trial.parts.objects.revision
    await make('a')
    const { said } = watch({ from })
    await make('b')
    await rest()
    expect(said).toEqual(['ADDED a', 'ADDED b'])
  })

  it('says nothing after it was stopped, in history or live', async () => {
    const from = trial.parts.objects.revision
    await make('a')
    const timers = trial.clock.pending
    const [live, past] = [watch({}), watch({ from })]
    live.stop()
    past.stop()
    await make('b')
    await rest()
    expect([live.said, past.said]).toEqual([[], []])
    expect(trial.clock.pending).toBe(timers)
  })

  it('ends with 410 where history is gone', async () => {
    const from = trial.parts.objects.revision
    await make('a')
    await make('b')
    await trial.parts.objects.store.compact(trial.parts.objects.revision)
    const { said } = watch({ from })
    await rest()
    expect(said).toEqual(['error 410', 'end'])
  })

  it('ends alone when it fails: other watches and the writers have nothing to do with it', async () => {
    const failing = new Notes()
    failing.fails = true
    const [bad, good] = [watch({}, failing), watch({})]
    expect(await make('a')).toMatchObject({ code: 201 })
    await make('b')
    expect([bad.said, good.said]).toEqual([['error 500', 'end'], ['ADDED a', 'ADDED b']])
    expect((await trial.server.parts.objects.store.get(`${prefix}b`))?.revision).toBe(trial.parts.objects.revision)
  })

  it('ends when its time is up', () => {
    const { said } = watch({ timeoutMs: 1000, bookmarks: true })
    trial.clock.advance(1000)
    expect(said).toEqual(['end'])
    trial.clock.advance(120_000)
    expect(said).toEqual(['end'])
  })

  it('tells every minute how far it is', () => {
    const { said } = watch({ bookmarks: true })
    trial.clock.advance(180_000)
    expect(said).toEqual(['bookmark', 'bookmark', 'bookmark'])
  })
})

describe('visibleEvent()', () => {
  const object = (color: string, revision: number) => ({ key: `${prefix}a`, revision, color, at: (r: number) => object(color, r) }) as unknown as StoredObject
  const matches = (o: StoredObject) => (o as unknown as { color: string }).color === 'red'
  const [red, blue] = [object('red', 1), object('blue', 2)]

  it.each([
    ['a new one that fits', { type: 'ADDED', object: red, previous: undefined }, 'ADDED'],
    ['a new one that does not', { type: 'ADDED', object: blue, previous: undefined }, undefined],
    ['one that comes to fit', { type: 'MODIFIED', object: red, previous: blue }, 'ADDED'],
    ['one that goes on fitting', { type: 'MODIFIED', object: red, previous: red }, 'MODIFIED'],
    ['one that fits no longer', { type: 'MODIFIED', object: blue, previous: red }, 'DELETED'],
    ['one that never fitted', { type: 'MODIFIED', object: blue, previous: blue }, undefined],
    ['one that fitted and is gone', { type: 'DELETED', object: red, previous: red }, 'DELETED'],
    ['one that did not and is gone', { type: 'DELETED', object: blue, previous: blue }, undefined],
  ] as const)('shows %s', (_what, event, expected) => {
    expect(visibleEvent(event, { prefix, matches })?.type).toBe(expected)
  })

  it('shows one that fits no longer as it was, at the revision of the change', () => {
    expect(visibleEvent({ type: 'MODIFIED', object: blue, previous: red }, { prefix, matches })!.object).toMatchObject({ color: 'red', revision: 2 })
  })

  it('shows nothing of elsewhere', () => {
    expect(visibleEvent({ type: 'ADDED', object: red, previous: undefined }, { prefix: '/registry/configmaps/other/', matches: undefined })).toBeUndefined()
  })
})
