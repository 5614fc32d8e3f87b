import { beforeEach, describe, expect, it } from 'vitest'
import type { Result } from '../requests/request.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from './create.ts'

let trial: ServerTrial
const configMaps = '/api/v1/namespaces/default/configmaps'

beforeEach(async () => {
  trial = await ServerTrial.open()
})

const objectOf = (result: Result) => (result as Extract<Result, { kind: 'stored' }>).stored.object
const make = async (url: string, body: object) => objectOf(await create(trial.request(url, body)))

describe('create()', () => {
  it('fills in what the system decides, and clears what is not the user\'s to say', async () => {
    const meta = { name: 'a', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z', generation: 7, selfLink: '/x' }
    const { metadata } = await make(configMaps, { metadata: meta })
    expect(metadata).toMatchObject({ name: 'a', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' })
    expect(metadata.uid).not.toBe('mine')
    for (const field of ['deletionTimestamp', 'selfLink']) expect(metadata).not.toHaveProperty(field)
  })

  it('begins the generation of a kind that has one with 1', async () => {
    const labels = { app: 'x' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const deployment = await make('/apis/apps/v1/namespaces/default/deployments', { metadata: { name: 'a', generation: 9 }, spec: { selector: { matchLabels: labels }, template }, status: { replicas: 5 } })
    expect(deployment.metadata.generation).toBe(1)
    expect((deployment as { status?: { replicas?: number } }).status?.replicas).toBeUndefined()
  })

  it.each([
    ['a name that is taken', configMaps, { metadata: { name: 'taken' } }, 409, 'configmaps "taken" already exists'],
    ['a version', configMaps, { metadata: { name: 'a', resourceVersion: '1' } }, 500, 'resourceVersion should not be set on objects to be created'],
    ['another namespace', configMaps, { metadata: { name: 'a', namespace: 'other' } }, 400, 'the namespace of the provided object does not match the namespace sent on the request'],
    ['no name', configMaps, { metadata: {} }, 422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'],
    ['a namespace that there is not', '/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'a' } }, 404, 'namespaces "nowhere" not found'],
  ])('refuses %s', async (_what, url, body, code, message) => {
    await make(configMaps, { metadata: { name: 'taken' } })
    await expect(make(url, body)).rejects.toMatchObject({ code, message })
  })
})
