import { describe, expect, it } from 'vitest'
import type { JobSpec, Pod } from '../../api/generated/types.ts'
import { podOf } from './apply.ts'
import { endedAtMs } from './policies.ts'
import { ago, nowMs, sampleJob, samplePod } from './sample.ts'

const indexed: Partial<JobSpec> = { completionMode: 'Indexed', completions: 3 }

describe('podOf()', () => {
  it('is what the template says, tracked', () => {
    expect(podOf(sampleJob(), undefined, undefined)).toEqual({
      metadata: { generateName: 'j-', labels: { app: 'j' }, finalizers: ['batch.kubernetes.io/job-tracking'] },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1', resources: {} }] },
    })
  })

  it('knows its index: by name, host name, label, annotation and variable', () => {
    const pod = podOf(sampleJob(indexed), 2, undefined) as Pod
    expect(pod.metadata).toMatchObject({
      generateName: 'j-2-',
      labels: { app: 'j', 'batch.kubernetes.io/job-completion-index': '2' },
      annotations: { 'batch.kubernetes.io/job-completion-index': '2' },
    })
    expect(pod.spec.hostname).toBe('j-2')
    const fieldRef = { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" }
    expect(pod.spec.containers[0]!.env).toEqual([{ name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef } }])
    expect(pod.metadata.annotations).not.toHaveProperty('batch.kubernetes.io/job-index-failure-count')
  })

  it('tells init containers, too, and leaves a variable of that name alone', () => {
    const env = [{ name: 'JOB_COMPLETION_INDEX', value: 'mine' }]
    const spec = { initContainers: [{ name: 'i', resources: {} }], containers: [{ name: 'c', env, resources: {} }] }
    const pod = podOf(sampleJob({ ...indexed, template: { metadata: {}, spec } }), 0, undefined) as Pod
    expect(pod.spec.initContainers![0]!.env).toHaveLength(1)
    expect(pod.spec.containers[0]!.env).toEqual(env)
  })

  it('does not change the template', () => {
    const job = sampleJob(indexed)
    const before = structuredClone(job)
    podOf(job, 1, undefined)
    expect(job).toEqual(before)
  })

  it('has a name of no more than 63 characters', () => {
    const { metadata } = podOf(sampleJob(indexed, {}, { name: 'n'.repeat(63) }), 12, undefined)
    expect(metadata.generateName).toBe(`${'n'.repeat(54)}-12-`)
  })

  it.each<[name: string, predecessor: Pod | undefined, annotations: Record<string, string>]>([
    ['the first of its index', undefined, { failure: '0' }],
    ['the second', samplePod('a', { phase: 'Failed', index: 0, failures: 0 }), { failure: '1' }],
    ['after a failure that is ignored', samplePod('a', { phase: 'Failed', index: 0, failures: 2, exitCode: 42 }), { failure: '2', 'ignored-failure': '1' }],
  ])('counts the failures of its index, where each has a limit: %s', (_, predecessor, counts) => {
    const policy = { podFailurePolicy: { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [42] } }] } }
    const { metadata } = podOf(sampleJob({ ...indexed, ...policy, backoffLimitPerIndex: 3 }), 0, predecessor)
    const expected = Object.fromEntries(Object.entries(counts).map(([kind, count]) => [`batch.kubernetes.io/job-index-${kind}-count`, count]))
    expect(metadata.annotations).toEqual({ 'batch.kubernetes.io/job-completion-index': '0', ...expected })
  })
})

describe('endedAtMs()', () => {
  const unready = [{ type: 'Ready', status: 'False', lastTransitionTime: ago(40) }]
  it.each<[name: string, pod: Pod, agoSeconds: number]>([
    ['by its containers', samplePod('a', { phase: 'Failed', endedFor: 7, conditions: unready }), 7],
    ['when it stopped being ready', samplePod('a', { phase: 'Running', conditions: unready }), 40],
    ['when it was to be deleted', samplePod('a', { phase: 'Running', deletedFor: 12 }), 12],
    ['when it was made, if there is nothing else', samplePod('a'), 50],
  ])('%s', (_, pod, agoSeconds) => {
    expect((nowMs - endedAtMs(pod)) / 1000).toBe(agoSeconds)
  })
})
