import { describe, expect, it } from 'vitest'
import type { PodTemplateSpec } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import type { KindName } from './kinds.ts'
import type { Workload } from './object.ts'
import { sampleNow, sampleWorkload } from './sample.ts'
import { pauseOf, restartOf, undoOf } from './edit.ts'
import type { Revision } from './revisions.ts'

const template = (image: string, annotations: Record<string, string> = {}): PodTemplateSpec => ({
  metadata: { labels: { app: 'web' }, annotations },
  spec: { containers: [{ name: 'main', image, resources: {} }] },
})
const revision = (number: Int64, image: string, annotations: Record<string, string> = {}): Revision => ({
  number,
  name: `web-${number}`,
  createdAt: undefined,
  changeCause: undefined,
  template: template(image),
  annotations,
})

describe('restartOf()', () => {
  it.each(['Deployment', 'StatefulSet', 'DaemonSet', 'CloneSet'] as const)(
    'gives the template of a %s another annotation',
    (kind) => {
      const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:10:00Z' }
      expect(restartOf(...sampleWorkload(kind), sampleNow)).toEqual({
        told: 'restarted',
        patch: { type: 'merge', body: { spec: { template: { metadata: { annotations } } } } },
      })
    },
  )

  it.each([
    [
      'a paused Deployment',
      'Deployment',
      { paused: true },
      `deployments.apps "web" can't restart paused deployment (run rollout resume first)`,
    ],
    ['a Job', 'Job', {}, 'jobs.batch "web" restarting is not supported'],
    [
      'a CloneSet that restarts nothing for an annotation',
      'CloneSet',
      { updateStrategy: { type: 'InPlaceIfPossible' } },
      'is updated in place (InPlaceIfPossible)',
    ],
    [
      'twice in a second',
      'Deployment',
      { template: template('a', { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:10:00Z' }) },
      'within the past second',
    ],
  ] as [string, KindName, Workload['spec'], string][])('refuses %s', (_, kind, spec, message) => {
    expect(() => restartOf(...sampleWorkload(kind, spec), sampleNow)).toThrow(message)
  })
})

describe('pauseOf()', () => {
  it.each([
    ['a Deployment', 'Deployment', {}, true, 'paused', { spec: { paused: true } }],
    ['a paused Deployment', 'Deployment', { paused: true }, false, 'resumed', { spec: { paused: false } }],
    ['a CloneSet', 'CloneSet', {}, true, 'paused', { spec: { updateStrategy: { paused: true } } }],
    [
      'a paused CloneSet',
      'CloneSet',
      { updateStrategy: { paused: true } },
      false,
      'resumed',
      { spec: { updateStrategy: { paused: false } } },
    ],
  ] as [string, KindName, Workload['spec'], boolean, string, object][])(
    'changes %s',
    (_, kind, spec, paused, told, body) => {
      expect(pauseOf(...sampleWorkload(kind, spec), paused)).toEqual({ told, patch: { type: 'merge', body } })
    },
  )

  it.each([
    ['pausing what is paused', 'Deployment', { paused: true }, true, 'deployments.apps "web" is already paused'],
    ['resuming what is not', 'CloneSet', {}, false, 'clonesets.apps.kruise.io "web" is not paused'],
    [
      'a StatefulSet',
      'StatefulSet',
      {},
      true,
      'statefulsets.apps "web" pausing is not supported: deployments and clonesets can be paused',
    ],
    [
      'a Job',
      'Job',
      {},
      false,
      'jobs.batch "web" resuming is not supported: deployments and clonesets can be paused; set spec.suspend instead',
    ],
  ] as [string, KindName, Workload['spec'], boolean, string][])('refuses %s', (_, kind, spec, paused, message) => {
    expect(() => pauseOf(...sampleWorkload(kind, spec), paused)).toThrow(message)
  })
})

describe('undoOf()', () => {
  const history = [revision(1, 'app:1'), revision(3, 'app:3'), revision(4, 'app:4')]
  const undo = (kind: KindName, to: Int64, revisions = history, spec: Workload['spec'] = {}, annotations = {}) =>
    undoOf(
      ...sampleWorkload(kind, { template: template('app:4'), ...spec }, {}, { annotations }),
      revisions,
      to,
      'coxswain',
    )
  const replaced = (image: string) => ({ op: 'replace', path: '/spec/template', value: template(image) })

  it.each(['StatefulSet', 'DaemonSet', 'CloneSet'] as const)('takes a %s back to the template before', (kind) => {
    expect(undo(kind, 0)).toEqual({ told: 'rolled back', patch: { type: 'json', body: [replaced('app:3')] } })
  })

  it('takes a Deployment back to a revision, with the annotations that it had then', () => {
    const own = { 'deployment.kubernetes.io/revision': '4', 'kubernetes.io/change-cause': 'four' }
    const then = {
      'deployment.kubernetes.io/revision': '1',
      'deployment.kubernetes.io/max-replicas': '4',
      'kubernetes.io/change-cause': 'one',
    }
    const annotations = {
      op: 'add',
      path: '/metadata/annotations',
      value: { 'deployment.kubernetes.io/revision': '4', 'kubernetes.io/change-cause': 'one' },
    }
    const [, ...rest] = history
    expect(undo('Deployment', 1, [revision(1, 'app:1', then), ...rest], {}, own).patch?.body).toEqual([
      replaced('app:1'),
      annotations,
    ])
  })

  it('finds a revision beyond 2^53', () => {
    const far = 9_007_199_254_740_993n
    expect(undo('StatefulSet', far, [...history, revision(far, 'app:9')]).patch?.body).toEqual([replaced('app:9')])
  })

  it('skips what would change nothing', () => {
    expect(undo('Deployment', 4)).toEqual({ told: 'skipped rollback (current template already matches revision 4)' })
  })

  it.each([
    ['a revision that is not there', 'StatefulSet', 2, history, {}, 'unable to find specified revision 2 in history'],
    [
      'a Deployment without history',
      'Deployment',
      0,
      history.slice(2),
      {},
      'no rollout history found for deployment "web"',
    ],
    ['a DaemonSet without history', 'DaemonSet', 0, history.slice(2), {}, 'no last revision to roll back to'],
    [
      'a paused Deployment',
      'Deployment',
      0,
      history,
      { paused: true },
      "resume it first with 'coxswain rollout resume deployment/web'",
    ],
  ] as [string, KindName, number, Revision[], Workload['spec'], string][])(
    'refuses %s',
    (_, kind, to, revisions, spec, message) => {
      expect(() => undo(kind, to, revisions, spec)).toThrow(message)
    },
  )
})
