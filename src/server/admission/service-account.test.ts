import { beforeEach, describe, expect, it } from 'vitest'
import type { Pod } from '../../api/generated/types.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from '../verbs/create.ts'

let trial: ServerTrial
beforeEach(async () => {
  trial = await ServerTrial.open()
})

const account = (more: object = {}) => create(trial.request('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' }, ...more }))
async function createPod(spec: object = {}): Promise<Pod['spec']> {
  const body = { metadata: { name: 'web' }, spec: { initContainers: [{ name: 'i', image: 'i' }], containers: [{ name: 'c', image: 'i' }], ...spec } }
  await create(trial.request('/api/v1/namespaces/default/pods', body))
  return trial.parts.access.get<Pod>('', 'pods', 'default', 'web')!.spec
}
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

describe('the ServiceAccount plugin', () => {
  it('gives a pod the usual account, by both of its names', async () => {
    expect(await createPod()).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' })
  })

  it('mounts a token of the account into every container', async () => {
    await account()
    const spec = await createPod()
    const [volume] = spec.volumes!
    expect(volume).toMatchObject({ name: expect.stringMatching(/^kube-api-access-[a-z0-9]{5}$/), projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }, {}, {}] } })
    for (const container of [...spec.initContainers!, ...spec.containers]) expect(container.volumeMounts).toEqual([{ name: volume!.name, mountPath, readOnly: true }])
  })

  it.each<[string, object, object, boolean]>([
    ['the account does not want it', { automountServiceAccountToken: false }, {}, false],
    ['the pod does not want it', {}, { automountServiceAccountToken: false }, false],
    ['the pod wants it, and the account does not', { automountServiceAccountToken: false }, { automountServiceAccountToken: true }, true],
  ])('goes by who speaks last where %s', async (_what, ofAccount, ofPod, isMounted) => {
    await account(ofAccount)
    expect(Boolean((await createPod(ofPod)).volumes)).toBe(isMounted)
  })

  it('leaves alone what is mounted at the same place', async () => {
    await account()
    const containers = [{ name: 'c', image: 'i', volumeMounts: [{ name: 'own', mountPath }] }]
    const spec = await createPod({ initContainers: [], containers, volumes: [{ name: 'own', emptyDir: {} }] })
    expect(spec.volumes).toHaveLength(1)
  })

  it("takes over the account's pull secrets, unless the pod has its own", async () => {
    await account({ imagePullSecrets: [{ name: 'registry' }] })
    expect((await createPod()).imagePullSecrets).toEqual([{ name: 'registry' }])
    await trial.parts.access.delete(trial.parts.registry.find('v1', 'pods')!.resource, 'default', 'web', { gracePeriodSeconds: 0 }, false)
    expect((await createPod({ imagePullSecrets: [{ name: 'mine' }] })).imagePullSecrets).toEqual([{ name: 'mine' }])
  })

  it('refuses a pod whose own account is not there', async () => {
    await expect(createPod({ serviceAccountName: 'robot' })).rejects.toMatchObject({
      code: 403, message: 'pods "web" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found',
    })
  })
})
