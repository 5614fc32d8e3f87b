import { beforeEach, describe, expect, it } from 'vitest'
import type { Result } from '../requests/request.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from './create.ts'
import { deleteOne } from './delete.ts'
import { partialUpdateOf } from '../write/rules.ts'
import { update } from './update.ts'

let trial: ServerTrial
const configMaps = '/api/v1/namespaces/default/configmaps'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const labels = { app: 'x' }
const deployment = (spec: object = {}) => ({ metadata: { name: 'a' }, spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }, ...spec } })

beforeEach(async () => {
  trial = await ServerTrial.open()
  await create(trial.request(configMaps, { metadata: { name: 'a' }, data: { x: '1' } }))
})

const objectOf = (result: Result): any => (result as Extract<Result, { kind: 'stored' }>).stored.object
const put = async (url: string, body: object) => objectOf(await update(trial.request(url, body)))
const current = () => trial.parts.access.get<any>('', 'configmaps', 'default', 'a')

describe('update()', () => {
  it('replaces what the user says and keeps what the system says', async () => {
    const { uid, creationTimestamp } = current().metadata
    trial.clock.advance(60_000)
    const next = await put(`${configMaps}/a`, { metadata: { name: 'a', labels: { l: 'v' }, creationTimestamp: '2001-01-01T00:00:00Z' } })
    expect(next.metadata).toMatchObject({ uid, creationTimestamp, labels: { l: 'v' } })
    expect(next.data).toBeUndefined()
  })

  it.each([
    ['an older version', () => ({ metadata: { name: 'a', resourceVersion: '1' } }), 409, /the object has been modified/],
    ['a version that is none, which Kubernetes takes for its own fault', () => ({ metadata: { name: 'a', resourceVersion: 'abc' } }), 500, /ParseUint: parsing "abc": invalid syntax/],
    ['another uid', () => ({ metadata: { name: 'a', uid: 'other' } }), 409, /Precondition failed: UID in precondition: other/],
    ['another name', () => ({ metadata: { name: 'b' } }), 400, /the name of the object \(b\) does not match the name on the URL \(a\)/],
    ['another namespace', () => ({ metadata: { name: 'a', namespace: 'kube-system' } }), 400, /does not match the namespace sent on the request/],
  ])('refuses %s', async (_what, body, code, message) => {
    await expect(put(`${configMaps}/a`, body())).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string })
  })

  it('does not find what is not there, unless the kind is created that way', async () => {
    await expect(put(`${configMaps}/nobody`, { metadata: { name: 'nobody' } })).rejects.toMatchObject({ code: 404 })
    const made = await update(trial.request('/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/r', { metadata: { name: 'r' } }))
    expect(made).toMatchObject({ code: 201 })
    const again = await update(trial.request('/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/r', { metadata: { name: 'r' } }))
    expect(again).toMatchObject({ code: 200 })
  })

  it('raises the generation when the spec changes, and only then', async () => {
    await create(trial.request(deployments, deployment()))
    expect((await put(`${deployments}/a`, { ...deployment(), metadata: { name: 'a', labels: { l: 'v' } } })).metadata.generation).toBe(1)
    expect((await put(`${deployments}/a`, deployment({ replicas: 5 }))).metadata.generation).toBe(2)
  })

  it('keeps status and spec apart', async () => {
    await create(trial.request(deployments, deployment({ replicas: 2 })))
    const viaStatus = await put(`${deployments}/a/status`, { ...deployment({ replicas: 9 }), status: { replicas: 2 } })
    expect([viaStatus.spec.replicas, viaStatus.status.replicas, viaStatus.metadata.generation]).toEqual([2, 2, 1])
    const viaMain = await put(`${deployments}/a`, { ...deployment({ replicas: 3 }), status: { replicas: 99 } })
    expect([viaMain.spec.replicas, viaMain.status.replicas]).toEqual([3, 2])
  })

  it('removes what was only waiting for its last finalizer', async () => {
    await create(trial.request(configMaps, { metadata: { name: 'f', finalizers: ['example.com/x'] } }))
    await deleteOne(trial.request(`${configMaps}/f`))
    await put(`${configMaps}/f`, { metadata: { name: 'f' } })
    expect(trial.parts.access.get('', 'configmaps', 'default', 'f')).toBeUndefined()
  })
})

it('partialUpdateOf() finds the doors of a kind, and no others', () => {
  const pods = trial.parts.registry.find('v1', 'pods')!
  expect(['', 'status', 'resize', 'bogus', 'constructor', '__proto__'].map((name) => partialUpdateOf(pods, name) !== undefined)).toEqual([false, true, true, false, false, false])
})
