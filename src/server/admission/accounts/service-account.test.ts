import { beforeEach, describe, expect, it } from 'vitest'
import type { Pod } from '../../../api/generated/types.ts'
import { ServerTrial } from '../../server-trial.ts'
import { create } from '../../verbs/create.ts'
import { accountWaitMs } from './account-wait.ts'
import type { AdmissionRequest } from '../admission.ts'
import { serviceAccount } from './service-account.ts'

let trial: ServerTrial
beforeEach(async () => {
  trial = await ServerTrial.open()
})

/** The account `default` of the namespace `default`. */
const account = (more: object = {}) =>
  create(trial.request('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' }, ...more }))
async function createPod(spec: object = {}): Promise<Pod['spec']> {
  const body = {
    metadata: { name: 'web' },
    spec: { initContainers: [{ name: 'i', image: 'i' }], containers: [{ name: 'c', image: 'i' }], ...spec },
  }
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
    expect(volume).toMatchObject(
      {
        name: expect.stringMatching(/^kube-api-access-[a-z0-9]{5}$/),
        projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }, {}, {}] },
      },
    )
    for (const container of [...spec.initContainers!, ...spec.containers]) expect(container.volumeMounts).toEqual(
      [{ name: volume!.name, mountPath, readOnly: true }],
    )
  })

  it.each<[string, object, object, boolean]>([
    ['the account does not want it', { automountServiceAccountToken: false }, {}, false],
    ['the pod does not want it', {}, { automountServiceAccountToken: false }, false],
    [
      'the pod wants it, and the account does not',
      { automountServiceAccountToken: false },
      { automountServiceAccountToken: true },
      true,
    ],
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
    await trial.parts.access.delete(
      trial.parts.registry.find('v1', 'pods')!.resource, 'default', 'web', { gracePeriodSeconds: 0 },
    )
    expect((await createPod({ imagePullSecrets: [{ name: 'mine' }] })).imagePullSecrets).toEqual([{ name: 'mine' }])
  })

  it('refuses a pod whose own account is not there', async () => {
    await expect(createPod({ serviceAccountName: 'robot' })).rejects.toMatchObject({
      code: 403, message: 'pods "web" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found',
    })
  })

  describe('where a controller makes accounts', () => {
    const made = (namespace: string) =>
      create(trial.request(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } }))
    const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
    beforeEach(() => made('kube-system'))

    it('waits a moment for the account of a new namespace', async () => {
      const waiting = createPod()
      await settled()
      trial.clock.advance(accountWaitMs - 1)
      await made('default')
      expect((await waiting).volumes).toHaveLength(1)
    })

    it('refuses a pod whose account does not come, in the words for any other', async () => {
      const refused = createPod().catch((e: unknown) => e)
      await settled()
      trial.clock.advance(accountWaitMs)
      expect(await refused).toMatchObject({
        code: 403, message: 'pods "web" is forbidden: error looking up service account default/default: serviceaccount "default" not found',
      })
    })

    it('does not wait for an account of another name', async () => {
      await expect(createPod({ serviceAccountName: 'robot' })).rejects.toMatchObject({ code: 403 })
    })
  })

  describe('an account that limits secrets', () => {
    const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' }
    const limited = () => account(
      { metadata: { name: 'default', annotations }, secrets: [{ name: 'mine' }], imagePullSecrets: [{ name: 'pull' }] },
    )
    const tail = 'is not allowed because service account default does not reference that'
    const fromEnv =
      (secret: string) => ({ env: [{ name: 'V', valueFrom: { secretKeyRef: { name: secret, key: 'k' } } }] })

    it.each<[string, object, string]>([
      [
        'its own secrets',
        { volumes: [{ name: 'v', secret: { secretName: 'mine' } }], imagePullSecrets: [{ name: 'pull' }] },
        '',
      ],
      ['no secret', {}, ''],
      [
        'a volume',
        { volumes: [{ name: 'v', secret: { secretName: 'other' } }] },
        `volume with secret.secretName="other" ${tail} secret`,
      ],
      ['a variable', { containers: [{ name: 'c', image: 'i', ...fromEnv('other') }] },
        `container c with envVar V referencing secret.secretName="other" ${tail} secret`],
      ['a variable of an init container', { initContainers: [{ name: 'i', image: 'i', ...fromEnv('other') }] },
        `init container i with envVar V referencing secret.secretName="other" ${tail} secret`],
      ['all variables of a secret', { containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: 'other' } }] }] },
        `container c with envFrom referencing secret.secretName="other" ${tail} secret`],
      ['a pull secret', { imagePullSecrets: [{ name: 'pull' }, { name: 'other' }] },
        `imagePullSecrets[1].name="other" ${tail} imagePullSecret`],
    ])('judges %s', async (_, spec, why) => {
      await limited()
      const answer = await createPod(spec).then(() => '', (e: Error) => e.message)
      expect(answer).toBe(why && `pods "web" is forbidden: ${why}`)
    })

    it('judges containers that are added later', async () => {
      await limited()
      await createPod()
      const pod = trial.parts.access.get<Pod>('', 'pods', 'default', 'web')!
      const ephemeralContainers = [{ name: 'e', image: 'i', ...fromEnv('other') }]
      await expect(
        trial.run(
          'PUT',
          '/api/v1/namespaces/default/pods/web/ephemeralcontainers',
          { ...pod, spec: { ...pod.spec, ephemeralContainers } },
        ),
      )
        .rejects.toMatchObject(
          {
            code: 403,
            message: expect.stringContaining(
              `ephemeral container e with envVar V referencing secret.secretName="other" ${tail} secret`,
            ),
          },
        )
    })
  })

  it.each<[string, object, string]>([
    ['an account', { serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    ['a secret', { volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
    ['a token', { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections'],
    ['nothing', {}, ''],
  ])('judges the pod of a file that names %s', (_, more, why) => {
    const pod = {
      metadata: { name: 'p', annotations: { 'kubernetes.io/config.mirror': 'x' } }, spec: { containers: [], ...more },
    } as unknown as Pod
    const request = {
      operation: 'CREATE',
      resource: { group: '', plural: 'pods' },
      subresource: '',
      namespace: 'ns',
      name: 'p',
      object: pod,
    }
    const judge = () => serviceAccount.validate!(request as unknown as AdmissionRequest)
    if (why) expect(judge).toThrow(why)
    else expect(judge).not.toThrow()
  })
})
