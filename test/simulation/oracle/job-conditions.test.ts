import { describe, expect, it } from 'vitest'
import type { Job, Pod } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { judgeJob } from './job-conditions.ts'
import { pod, startMs, timeAt } from './story.ts'

/** `Waiting True` and so on, each turned in the second in which it is said. */
type Words = readonly string[]

const at = 5
const conditions = (words: Words, turned: number) =>
  words.map((text) => {
    const [type, status] = text.split(' ')
    return { type, status, lastTransitionTime: timeAt(turned) }
  })

const jobOf = (words: Words, turned: number, spec: object, message?: string): Job =>
  ({
    metadata: { name: 'web', uid: 'u' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    status: { conditions: conditions(words, turned).map((c, i) => (i === 0 && message ? { ...c, message } : c)) },
  }) as unknown as Job

interface Scene {
  pods: readonly Pod[]
  spec?: object
  before?: Words
  /** In the first condition. */
  message?: string
  turned?: number
}

function judge(words: Words, { pods, spec = {}, before = [], message, turned = at }: Scene) {
  const previous = jobOf(before, 1, spec) as KubeObject
  const views = [{ pods, sets: [], nodes: [], claims: [] }]
  const job = jobOf(words, turned, spec, message)
  return judgeJob(job, previous, { owner: job, atMs: startMs + at * 1000, views, hasFailed: false, blur: 0 })
}

const running = pod('web-0')
const pending = pod('web-1', { phase: 'Pending' })
const ended = pod('web-2', { phase: 'Succeeded' })
const runs = ['Running True', 'Waiting False']
const waits = ['Waiting True', 'Running False']
const neither = ['Running False', 'Waiting False']
const over = ['Complete True', ...neither]

describe('the oracle finds, in what a Job says,', () => {
  it.each<[lie: string, Scene, right: Words, wrong: Words, found: string]>([
    ['that it runs, and no pod does', { pods: [pending] }, waits, runs, 'and no pod does'],
    ['that it does not run, and a pod does', { pods: [running] }, runs, waits, 'and a pod does'],
    ['that it runs and waits', { pods: [running, pending] }, runs, ['Running True', 'Waiting True'], 'runs and waits'],
    ['that it waits, and no pod is to run', { pods: [ended] }, neither, waits, 'no pod is to run'],
    ['that it does not wait, and a pod is to run', { pods: [pending, ended] }, waits, neither, 'a pod is to run'],
    ['nothing of a suspended Job', { pods: [], spec: { suspend: true } }, waits, neither, 'is suspended'],
    ['that it is over and waits', { pods: [ended] }, over, ['Complete True', ...waits], 'is over'],
    ['two ends', { pods: [ended] }, over, ['Failed True', ...over], 'at once'],
  ])('%s', (_, scene, right, wrong, found) => {
    expect(judge(right, scene)).toBeUndefined()
    expect(judge(wrong, scene)).toContain(found)
  })

  it('that an end is taken back', () => {
    expect(judge(neither, { pods: [ended], before: ['Complete True'] })).toContain('takes Complete back')
  })

  it('another time at which a condition turned', () => {
    expect(judge(runs, { pods: [running] })).toBeUndefined()
    expect(judge(runs, { pods: [running], turned: 4 })).toContain('says that Waiting turned')
    expect(judge(runs, { pods: [running], before: runs, turned: 1 })).toBeUndefined()
    expect(judge(runs, { pods: [running], before: runs })).toContain('says that Waiting turned')
  })

  it('a pod that is not there', () => {
    expect(judge(runs, { pods: [running], message: 'Pod web-0 is late.' })).toBeUndefined()
    expect(judge(runs, { pods: [running], message: 'Pod web-7 is late.' })).toContain('names pod web-7')
  })
})
