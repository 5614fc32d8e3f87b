import { beforeEach, describe, expect, it } from 'vitest'
import type { Result } from '../requests/request.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from './create.ts'
import { getScale, writeScale } from './scale.ts'

let trial: ServerTrial
const url = '/apis/apps/v1/namespaces/default/deployments/a/scale'
const labels = { app: 'x' }

beforeEach(async () => {
  trial = await ServerTrial.open()
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await create(trial.request('/apis/apps/v1/namespaces/default/deployments', { metadata: { name: 'a' }, spec: { replicas: 2, selector: { matchLabels: labels }, template } }))
})

const valueOf = (result: Result | Promise<Result>): any => (result as Extract<Result, { kind: 'value' }>).value
const read = () => valueOf(getScale(trial.request(url)))
const merge = { contentType: 'application/merge-patch+json' }

describe('the scale of a deployment', () => {
  it('shows replicas and selector, under the identity of the deployment', () => {
    const { uid, resourceVersion } = trial.parts.access.get<any>('apps', 'deployments', 'default', 'a').metadata
    expect(read()).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'a', namespace: 'default', uid, resourceVersion }, spec: { replicas: 2 }, status: { replicas: 0, selector: 'app=x' } })
  })

  it('is changed by PUT and PATCH, and raises the generation', async () => {
    expect(valueOf(await writeScale(trial.request(url, { metadata: { name: 'a' }, spec: { replicas: 5 } }), 'update')).spec.replicas).toBe(5)
    expect(valueOf(await writeScale(trial.request(url, { spec: { replicas: 7 } }, merge), 'patch')).spec.replicas).toBe(7)
    const { spec, metadata } = trial.parts.access.get<any>('apps', 'deployments', 'default', 'a')
    expect([spec.replicas, metadata.generation]).toEqual([7, 3])
  })

  it('is patched by many at once without a conflict', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, i) => writeScale(trial.request(url, { spec: { replicas: i + 1 } }, merge), 'patch')))
    expect(read().spec.replicas).toBeGreaterThan(0)
  })

  it.each([
    ['fewer than none', { metadata: { name: 'a' }, spec: { replicas: -1 } }, 422],
    ['an older version', { metadata: { name: 'a', resourceVersion: '1' }, spec: { replicas: 1 } }, 409],
    ['another kind', { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'a' } }, 400],
  ])('refuses %s', async (_what, body, code) => {
    await expect(writeScale(trial.request(url, body), 'update')).rejects.toMatchObject({ code })
  })

  it('is not patched where the patch means another object', async () => {
    const patch = { metadata: { uid: 'another' }, spec: { replicas: 9 } }
    const { uid } = read().metadata
    await expect(writeScale(trial.request(url, patch, merge), 'patch')).rejects.toMatchObject({
      code: 409,
      message: `Operation cannot be fulfilled on deployments/scale.apps "a": Precondition failed: UID in precondition: another, UID in object meta: ${uid}`,
    })
    expect(read().spec.replicas).toBe(2)
  })

  it('of nothing is not found', () => {
    expect(() => getScale(trial.request(url.replace('/a/', '/nobody/')))).toThrow(expect.objectContaining({ code: 404 }) as Error)
  })
})
