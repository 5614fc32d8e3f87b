import { describe, expect, it } from 'vitest'
import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { plan } from './controller.ts'

const ephemeral = { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } } }
const pod = (...volumes: object[]): Pod =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'default', uid: 'u1' }, spec: { volumes, containers: [] } }) as unknown as Pod
const claim = (name: string, uid?: string): [string, PersistentVolumeClaim] => [
  name,
  { metadata: { name, namespace: 'default', ...(uid ? { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid, controller: true }] } : {}) } } as PersistentVolumeClaim,
]
const data = { name: 'data', ephemeral }
const logs = { name: 'logs', ephemeral }

describe('plan()', () => {
  it.each<[string, Pod, [string, PersistentVolumeClaim][], string]>([
    ['a pod without volumes needs nothing', pod(), [], ''],
    ['other volumes need nothing', pod({ name: 'data', emptyDir: {} }, { name: 'x', persistentVolumeClaim: { claimName: 'web-x' } }), [], ''],
    ['each ephemeral volume gets a claim', pod(data, logs), [], 'Create web-data, Create web-logs'],
    ['only once', pod(data, logs), [claim('web-data', 'u1')], 'Create web-logs'],
    ['a claim without an owner is not used', pod(data), [claim('web-data')], 'ReportForeign web-data'],
    ['nor that of an earlier pod of this name', pod(data, logs), [claim('web-data', 'u0')], 'ReportForeign web-data, Create web-logs'],
  ])('%s', (_, given, claims, wanted) => {
    const { actions } = plan({ pod: given, claims: new Map(claims) })
    expect(actions.map(({ kind, claimName }) => `${kind} ${claimName}`).join(', ')).toBe(wanted)
  })
})
