import { beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { callInProcess } from '../requests/in-process.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from '../verbs/create.ts'

let trial: ServerTrial

beforeAll(async () => {
  trial = await ServerTrial.open()
  for (const name of ['robot', 'other']) await create(trial.request('/api/v1/namespaces/default/serviceaccounts', { metadata: { name } }))
  const spec = { serviceAccountName: 'robot', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] }
  await create(trial.request('/api/v1/namespaces/default/pods', { metadata: { name: 'web' }, spec }))
})

const ask = (account: string, spec: object, metadata: object = {}) =>
  callInProcess(trial.server, {
    method: 'POST',
    path: `/api/v1/namespaces/default/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec },
    user: { name: 'ann', groups: [] },
  })

const pod = { kind: 'Pod', apiVersion: 'v1', name: 'web' }

describe('POST serviceaccounts/token', () => {
  it('answers a token, for an hour unless told otherwise', async () => {
    expect(await ask('robot', {})).toMatchObject({
      kind: 'TokenRequest',
      metadata: { name: 'robot', namespace: 'default' },
      spec: { audiences: ['https://kubernetes.default.svc.cluster.local'], expirationSeconds: 3600 },
      status: { token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/), expirationTimestamp: '2026-01-01T01:00:00Z' },
    })
  })

  it('binds it to a pod that runs as the account', async () => {
    expect(await ask('robot', { boundObjectRef: pod, expirationSeconds: 600 })).toMatchObject({ status: { expirationTimestamp: '2026-01-01T00:10:00Z' } })
  })

  it.each<[string, string, object, object]>([
    ['for an account that is not there', 'none', {}, { code: 404, message: 'serviceaccounts "none" not found' }],
    ['for a moment', 'robot', { expirationSeconds: 599 }, { code: 422, message: 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes' }],
    ['for ever', 'robot', { expirationSeconds: 2 ** 33 }, { code: 422 }],
    ['bound to a pod of another account', 'other', { boundObjectRef: pod }, { code: 400, message: 'cannot bind token for serviceaccount "other" to pod running with different serviceaccount name.' }],
    ['bound to a pod that is not there', 'robot', { boundObjectRef: { ...pod, name: 'none' } }, { code: 404, message: 'pods "none" not found' }],
    ['bound to a pod that was there before', 'robot', { boundObjectRef: { ...pod, uid: 'old' } }, { code: 409 }],
    ['bound to something else', 'robot', { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } }, { code: 400 }],
  ])('answers none %s', async (_what, account, spec, expected) => {
    await expect(ask(account, spec)).rejects.toMatchObject(expected)
  })

  const asked = 'TokenRequest.authentication.k8s.io "robot"'
  it.each<[string, object, object]>([
    [
      'name',
      { name: 'other' },
      {
        code: 422,
        message: `${asked} is invalid: metadata.name: Invalid value: "other": must match the service account name if specified`,
      },
    ],
    [
      'namespace',
      { namespace: 'kube-system' },
      { code: 422, message: expect.stringContaining('must match the service account namespace if specified') },
    ],
    [
      'uid',
      { uid: 'old' },
      { code: 409, message: expect.stringContaining(`${asked}: the UID in the token request (old) does not match`) },
    ],
  ])('answers none where the body has another %s', async (_what, metadata, expected) => {
    await expect(ask('robot', {}, metadata)).rejects.toMatchObject(expected)
  })

  it('answers the uid of the account, and takes it', async () => {
    const { uid } = trial.parts.access.get<KubeObject>('', 'serviceaccounts', 'default', 'robot')!.metadata
    expect(await ask('robot', {})).toMatchObject({ metadata: { uid } })
    expect(await ask('robot', {}, { name: 'robot', namespace: 'default', uid })).toMatchObject({ metadata: { uid } })
  })
})
