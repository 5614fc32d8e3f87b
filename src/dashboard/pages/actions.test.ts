import { describe, expect, it } from 'vitest'
import type { KindName } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import type { Revision } from '../../insight/workload/revisions.ts'
import { sampleNow, sampleWorkload } from '../../insight/workload/sample.ts'
import { type ActionRequest, actionsOf, planAction } from './actions.ts'

const revision = (number: number, image: string): Revision => ({
  number, name: `web-${number}`, createdAt: undefined, changeCause: undefined, annotations: {},
  template: { metadata: { labels: {} }, spec: { containers: [{ name: 'main', image, resources: {} }] } },
})
const planned = (kind: KindName, spec: Workload['spec'], request: ActionRequest) =>
  planAction(...sampleWorkload(kind, { template: revision(2, 'b').template, ...spec }), request, [revision(1, 'a'), revision(2, 'b')], sampleNow)

describe('actionsOf()', () => {
  it.each<[KindName, Workload['spec'], string[]]>([
    ['Deployment', {}, ['scale', 'pause', 'restart', 'undo']],
    ['Deployment', { paused: true }, ['scale', 'resume', 'restart', 'undo']],
    ['StatefulSet', {}, ['scale', 'restart', 'undo', 'partition']],
    ['StatefulSet', { updateStrategy: { type: 'OnDelete' } }, ['scale', 'restart', 'undo']],
    ['DaemonSet', {}, ['restart', 'undo']],
    ['CloneSet', { updateStrategy: { paused: true } }, ['scale', 'resume', 'restart', 'undo', 'partition']],
    ['Job', {}, ['pause']],
    ['CronJob', { suspend: true }, ['resume']],
    ['ReplicaSet', {}, ['scale']],
  ])('of a %s with %j', (kind, spec, actions) => {
    expect(actionsOf(...sampleWorkload(kind, spec))).toEqual(actions)
  })

  it('of a finished Job are none', () => {
    const [kind, job] = sampleWorkload('Job', {})
    expect(actionsOf(kind, { ...job, status: { conditions: [{ type: 'Failed', status: 'True' }] } })).toEqual([])
  })
})

describe('planAction()', () => {
  it.each<[string, KindName, Workload['spec'], ActionRequest, string, string]>([
    ['up', 'Deployment', { replicas: 3 }, { action: 'scale', replicas: 4 }, 'It has 3 replicas and will have 4: 1 pod is started.', 'kubectl scale deployment/web --replicas=4 -n default'],
    ['down', 'StatefulSet', { replicas: 3 }, { action: 'scale', replicas: 0 }, 'It has 3 replicas and will have 0: 3 pods are ended.', 'kubectl scale statefulset/web --replicas=0 -n default'],
    ['nowhere', 'Deployment', { replicas: 3 }, { action: 'scale', replicas: 3 }, 'It has 3 replicas already.', 'kubectl scale deployment/web --replicas=3 -n default'],
    ['a Job that is suspended', 'Job', {}, { action: 'pause' }, 'Its active pods are stopped, and new ones start when it is resumed.', `kubectl patch job/web --type=merge -p '{"spec":{"suspend":true}}' -n default`],
    ['a CloneSet that is paused', 'CloneSet', {}, { action: 'pause' }, 'Its rollout stops where it is, and changes of its template start none until it is resumed. Its pods keep running.', `kubectl patch cloneset/web --type=merge -p '{"spec":{"updateStrategy":{"paused":true}}}' -n default`],
    ['a restart that waits for people', 'StatefulSet', { replicas: 2, updateStrategy: { type: 'OnDelete' } }, { action: 'restart' }, 'Nothing happens to its 2 pods until they are deleted by hand (OnDelete).', 'kubectl rollout restart statefulset/web -n default'],
    ['the revision before', 'Deployment', { replicas: 2 }, { action: 'undo' }, 'The template of revision 1 becomes the present one. 2 pods are replaced step by step (RollingUpdate).', 'kubectl rollout undo deployment/web --to-revision=1 -n default'],
    ['the present revision', 'Deployment', {}, { action: 'undo', revision: 2 }, 'Nothing happens: skipped rollback (current template already matches revision 2).', 'kubectl rollout undo deployment/web --to-revision=2 -n default'],
    ['a partition', 'StatefulSet', { replicas: 5 }, { action: 'partition', partition: 4 }, '1 pod gets the newest revision, 4 keep the old one.', `kubectl patch statefulset/web --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":4}}}}' -n default`],
    ['a percentage', 'CloneSet', { replicas: 5 }, { action: 'partition', partition: '50%' }, '2 pods get the newest revision, 3 keep the old one.', `kubectl patch cloneset/web --type=merge -p '{"spec":{"updateStrategy":{"partition":"50%"}}}' -n default`],
  ])('tells %s', (_, kind, spec, request, sentence, command) => {
    expect(planned(kind, spec, request)).toMatchObject({ sentence, command })
  })

  it.each<[string, KindName, Workload['spec'], ActionRequest, string]>([
    ['a negative number', 'Deployment', {}, { action: 'scale', replicas: -1 }, 'replicas: Invalid value: -1: must be an integer greater than or equal to 0'],
    ['no number', 'Deployment', {}, { action: 'scale' }, 'replicas: Invalid value: undefined: must be an integer greater than or equal to 0'],
    ['an action that the kind does not have', 'DaemonSet', {}, { action: 'scale', replicas: 1 }, 'daemonset/web has no action "scale" now'],
    ['a revision that is not kept', 'Deployment', {}, { action: 'undo', revision: 9 }, 'unable to find specified revision 9 in history'],
    ['a percentage of a StatefulSet', 'StatefulSet', {}, { action: 'partition', partition: '5%' }, 'partition: Invalid value: "5%": must be an integer greater than or equal to 0'],
  ])('refuses %s', (_, kind, spec, request, message) => {
    expect(() => planned(kind, spec, request)).toThrow(message)
  })

  it.each<[KindName, string]>([
    ['Deployment', 'no rollout history found for deployment "web"'],
    ['StatefulSet', 'no last revision to roll back to'],
    ['DaemonSet', 'no last revision to roll back to'],
    ['CloneSet', 'no last revision to roll back to'],
  ])('refuses to undo a %s that has only its first revision', (kind, message) => {
    const only = revision(1, 'a')
    const [kindOf, object] = sampleWorkload(kind, { template: only.template })
    expect(() => planAction(kindOf, object, { action: 'undo' }, [only], sampleNow)).toThrow(message)
  })
})
