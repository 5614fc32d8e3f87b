import { describe, expect, it } from 'vitest'
import type { Pod } from '../../../src/api/generated/types.ts'
import { pods } from '../../../src/client/index.ts'
import { repeatedPhrase } from '../../../src/api/explain/sample.ts'
import { podCauses } from './cause-pods.ts'
import {
  type CauseRow, container, escaped, reported, sentencePattern, unready, waiting, withContainers,
} from './cause-row.ts'
import { CauseScene, sentencesOf } from './cause-scene.ts'
import { type KindName, isRolling, kindNames, kindOf } from './every-kind-scene.ts'
import { workloadCauses } from './cause-workloads.ts'

const rows = [...podCauses, ...workloadCauses].map((row) => ({ name: row.it, row }))

/** The sentence of Progressing before the cause, after the deadline. */
const exceeded =
  String.raw`(?:No progress with revision [\w-]+ for 60 seconds|ReplicaSet "[\w-]+" has timed out progressing)\.`

/** A workload in which a fault is staged. */
class Stage {
  readonly s: CauseScene
  readonly row: CauseRow
  readonly name: KindName
  /** The pod that it is about; any, where there was none. */
  readonly pod: string

  constructor(s: CauseScene, row: CauseRow, name: KindName, pod: string | undefined) {
    this.s = s
    this.row = row
    this.name = name
    this.pod = pod ?? String.raw`[\w-]+`
  }

  get #when() {
    const { when = 'at once' } = this.row
    return typeof when === 'function' ? when(this.name) : when
  }

  /** Jobs do not keep the time since which they are refused. */
  get pattern(): string {
    const { says, what } = this.row
    const isTimeless = this.name === 'job' && what.endsWith('Refused')
    return sentencePattern(
      isTimeless ? says.replace(', since TIME', '') : says, this.pod, `${kindOf(this.name).kind} ${this.name}`,
    )
  }

  /** The text before the sentence, by condition type. For a Job one of both has it. */
  #before(isLate: boolean): [types: string, first: string][] {
    const { available, progressing } = sentencesOf(this.name)
    if (this.#when === 'never' || (this.#when === 'at the deadline' && !isLate)) return []
    const told = this.row.tells?.(this.name)
    if (told && !isLate) return Object.entries(told).map(
      ([type, first]) => [type, typeof first === 'string' ? escaped(first) : first.source],
    )
    const all: [string, string][] = []
    if (this.#when === 'at once' && !told) all.push(
      [this.name === 'job' ? 'Waiting|Running' : 'Available', available.source],
    )
    if (progressing) all.push(['Progressing', isLate ? exceeded : progressing.source])
    return all
  }

  /** The conditions that do not say what they are to say. */
  async wrong(isLate: boolean): Promise<string[]> {
    const told = await this.s.conditions(this.name)
    const missing = this.#before(isLate).filter(([types, first]) => {
      const pattern = new RegExp(`^${first} ${this.pattern}$`)
      return !told.some(({ type, message = '' }) => types.split('|').includes(type) && pattern.test(message))
    })
    const said = told.map(({ type, message }) => `    ${type}: ${message}`)
    return missing.flatMap(([types, first]) => [`${this.name} ${types} is to match ${first} ${this.pattern}`, ...said])
  }

  /** ReplicaFailure, where a request was refused and it does not say so in the words of the API server. */
  async unreported(): Promise<string[]> {
    const { what } = this.row
    if ((what !== 'CreateRefused' && what !== 'DeleteRefused') || this.name === 'job') return []
    const failure = await this.s.condition(this.name, 'ReplicaFailure')
    const [reason, verb] = what === 'CreateRefused' ? ['FailedCreate', 'create'] : ['FailedDelete', 'delete']
    const { message, lastTransitionTime: since } = failure ?? {}
    const sentence = `${kindOf(this.name).kind} ${this.name} cannot ${verb} a pod: ${message}, since ${since}.`
    const isTold = failure?.reason === reason && new RegExp(`^${this.pattern}$`).test(sentence)
    return isTold ? [] : [`${this.name} ReplicaFailure is ${JSON.stringify(failure)}`]
  }

  /** The conditions that still say it. */
  async lasting(): Promise<string[]> {
    const pattern = new RegExp(this.pattern)
    return (await this.s.messages(this.name)).filter((message) => pattern.test(message)).map(
      (message) => `${this.name} still says ${message}`,
    )
  }

  /** Conditions and sentences that say the same words twice, or do not end with one full stop. */
  async clumsy(): Promise<string[]> {
    const all = [...(await this.s.messages(this.name)), ...(await this.s.explained(this.name))]
    // Kubernetes' own messages without a full stop: Job suspended, Deployment is paused.
    const isUpstream = (text: string) => /^\w+: [\w ]+$/.test(text)
    return all.flatMap((text) => {
      const phrase = repeatedPhrase(text)
      if (phrase) return [`${this.name} says ${JSON.stringify(phrase)} twice: ${text}`]
      const isEnded = /[^.:;,\s]\.$/.test(text) || isUpstream(text) || this.row.what.endsWith('Refused')
      return isEnded ? [] : [`${this.name} does not end its sentence: ${text}`]
    })
  }

  /** The differences from explain(). */
  async unexplained(): Promise<string[]> {
    const { explains = 'first' } = this.row
    if (explains === 'nothing') return []
    const all = await this.s.explained(this.name)
    const pattern = new RegExp(`^${this.pattern}$`)
    const isTold = explains === 'first' ? pattern.test(all[0] ?? '') : all.some((text) => pattern.test(text))
    return isTold ? [] : [`${this.name}: explain() is to say ${this.pattern}`, ...all.map((text) => `    ${text}`)]
  }
}

/** Stages a fault in one workload of every kind that it concerns. */
async function staged(row: CauseRow): Promise<Stage[]> {
  const s = await CauseScene.start()
  const names = row.kinds ?? kindNames
  await row.before?.(s)
  for (const name of names) await s.create(name, row.podSpec, row.spec, row.metadata)
  const stages: Stage[] = []
  for (const name of names) {
    const pod = (await s.pods(name)).at(-1)
    const another = await row.stage?.(s, name, pod!)
    stages.push(new Stage(s, row, name, typeof another === 'string' ? another : pod?.metadata.name))
  }
  await s.pass(100)
  return stages
}

describe.each(rows)('$name', ({ row }) => {
  it('reads the same on every kind, at once and at the deadline, and is gone when it is mended', async () => {
    const stages = await staged(row)
    const [{ s }] = stages as [Stage]
    const gather = async (what: (stage: Stage) => Promise<string[]>) => (await Promise.all(stages.map(what))).flat()
    expect(await gather((stage) => stage.wrong(false))).toEqual([])
    expect(await gather((stage) => stage.unexplained())).toEqual([])
    expect(await gather((stage) => stage.unreported())).toEqual([])
    expect(await gather((stage) => stage.clumsy())).toEqual([])
    if (!row.isBrief) {
      await s.pass(62_000)
      expect(await gather((stage) => (isRolling(stage.name) ? stage.wrong(true) : Promise.resolve([])))).toEqual([])
    }
    if (row.isBrief && !row.mend) return
    for (const { name } of stages) await (row.mend?.(s, name) ?? s.ready(await s.pod(name)))
    await s.pass(1000)
    expect(await gather((stage) => stage.lasting())).toEqual([])
  })
})

const bad = container(waiting('ErrImagePull', 'no'))
const cannotPull = (pod: string) =>
  new RegExp(`Pod ${pod} cannot pull image "app:1" for container "main": no, since 2026`)

describe('pods that nothing waits for do not hide those that are in trouble', () => {
  const replacing: readonly KindName[] = ['deployment', 'replicaset', 'replicationcontroller', 'cloneset']

  it.each<[string, (s: CauseScene, pod: Pod) => Promise<unknown>]>([
    [
      'a pod that was evicted',
      (s, pod) => s.report(pod, { phase: 'Failed', reason: 'Evicted', conditions: [unready(s.now)] }),
    ],
    ['a pod whose deletion hangs', (s, pod) => s.client.delete(pods, 'default', pod.metadata.name!)],
  ])('%s', async (_, end) => {
    const s = await CauseScene.start()
    for (const name of replacing) {
      await s.create(name)
      const first = await s.pod(name)
      await s.bind(first)
      await end(s, first)
    }
    await s.pass(50_000)
    for (const name of replacing) {
      const second = await s.pod(name)
      await reported(withContainers('Pending', bad))(s, name, second)
      await s.pass(100)
      expect((await s.condition(name, 'Available'))!.message).toMatch(cannotPull(second.metadata.name!))
    }
  })
})

it('a Deployment that recreates its pods says which of the old ones does not go, as soon as it is late', async () => {
  const s = await CauseScene.start()
  await s.create('deployment', {}, { strategy: { type: 'Recreate' } })
  const pod = await s.pod('deployment')
  await s.ready(pod)
  await s.pass(1000)
  await s.setImage('deployment', 'app:2')
  await s.pass(39_000)
  expect((await s.condition('deployment', 'Available'))!.message).toBe('Deployment does not have minimum availability.')
  await s.pass(3000)
  expect((await s.condition('deployment', 'Available'))!.message).toMatch(
    new RegExp(`availability\\. Pod ${pod.metadata.name} has not ended though its grace period is over, since 2026`),
  )
})

it('a broken pod that the partition keeps at its revision is not said to block the update', async () => {
  const s = await CauseScene.start()
  await s.create('statefulset', {}, { updateStrategy: { rollingUpdate: { partition: 1 } } })
  await reported(withContainers('Pending', bad))(s, 'statefulset', await s.pod('statefulset'))
  await s.setImage('statefulset', 'app:2')
  const { message } = (await s.condition('statefulset', 'Available'))!
  expect(message).toMatch(cannotPull('statefulset-0'))
  expect(message).not.toContain('old revision')
})
