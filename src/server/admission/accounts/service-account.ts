import { createHash } from 'node:crypto'
import type { Container, Pod, ServiceAccount, Volume } from '../../../api/generated/types.ts'
import { generatedSuffixLength, nameAlphabet } from '../../../api/generated-name.ts'
import { accountChange } from './account-wait.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts'
import { ephemeralSecretProblem, limitsSecrets, mirrorProblem, secretProblem } from './mountable-secrets.ts'
import { isFor, refusal } from '../refusal.ts'

const usualName = 'default'
const mirrorAnnotation = 'kubernetes.io/config.mirror'
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Kubernetes uses 3607 seconds to distinguish the tokens that it mounts from requested ones. */
const tokenSeconds = 3607

/** The suffix of the volume's name, derived from the pod and the time. */
function suffixOf({ metadata }: Pod, now: number): string {
  const digest = createHash('sha256')
    .update(`${metadata.namespace}/${metadata.name ?? metadata.generateName}/${now}`)
    .digest()
  return [...digest.subarray(0, generatedSuffixLength)].map((byte) => nameAlphabet[byte % nameAlphabet.length]).join('')
}

const accessVolume = (name: string): Volume =>
  ({
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    },
  }) as Volume

/** Mounts the token. A container with another mount at this path keeps that. */
function mountToken(pod: Pod, now: number): void {
  const lacking = [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])].filter(
    (c: Container) => !c.volumeMounts?.some((m) => m.mountPath === mountPath),
  )
  if (lacking.length === 0) return
  const name = `kube-api-access-${suffixOf(pod, now)}`
  for (const container of lacking)
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, mountPath, readOnly: true }]
  pod.spec.volumes = [...(pod.spec.volumes ?? []), accessVolume(name)]
}

const accountOf = (request: AdmissionRequest, name: string) =>
  request.reader.get<ServiceAccount>('', 'serviceaccounts', request.namespace, name)

const missing = (request: AdmissionRequest, name: string) =>
  refusal(
    request,
    `error looking up service account ${request.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
  )

/**
 * True if a controller creates accounts: it has then created the one in kube-system. Without one, pods are admitted
 * without an account.
 */
const makesAccounts = ({ reader }: AdmissionRequest) =>
  reader.get('', 'serviceaccounts', 'kube-system', usualName) !== undefined

const isMirror = ({ metadata }: Pod) => metadata.annotations?.[mirrorAnnotation] !== undefined

function fillIn(pod: Pod, account: ServiceAccount, request: AdmissionRequest): void {
  const { spec } = pod
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(pod, request.now)
  if (spec.imagePullSecrets?.length || !account.imagePullSecrets?.length) return
  spec.imagePullSecrets = account.imagePullSecrets.map(({ name: secret }) => ({ name: secret }))
}

function admitPod(pod: Pod, request: AdmissionRequest): Promise<void> | undefined {
  const { spec } = pod
  if (isMirror(pod)) return undefined
  spec.serviceAccountName ||= usualName
  spec.serviceAccount = spec.serviceAccountName
  const name = spec.serviceAccountName
  const account = accountOf(request, name)
  if (account) {
    fillIn(pod, account, request)
    return undefined
  }
  // The request names the account, so it is not created on demand.
  if (name !== usualName) throw missing(request, name)
  if (!makesAccounts(request)) return undefined
  const { objects, clock } = request
  if (!objects || !clock) throw missing(request, name)
  return accountChange(objects, clock, request.namespace, name).then(() => {
    const made = accountOf(request, name)
    if (!made) throw missing(request, name)
    fillIn(pod, made, request)
  })
}

function validatePod(pod: Pod, request: AdmissionRequest): void {
  if (isMirror(pod)) {
    const problem = mirrorProblem(pod)
    if (problem) throw refusal(request, problem)
    return
  }
  const account = accountOf(request, pod.spec.serviceAccountName ?? '')
  const problem = account && limitsSecrets(account) && secretProblem(pod, account)
  if (problem) throw refusal(request, problem)
}

function validateEphemeral(pod: Pod, request: AdmissionRequest): void {
  const account = accountOf(request, pod.spec.serviceAccountName ?? '')
  const problem = account && limitsSecrets(account) && ephemeralSecretProblem(pod, account)
  if (problem) throw refusal(request, problem)
}

/**
 * Assigns pods a service account, its image pull secrets and, unless disabled, a mounted token. An account may restrict
 * its pods to the secrets that it lists.
 */
export const serviceAccount: AdmissionPlugin = {
  name: 'ServiceAccount',
  admit(request) {
    if (request.operation === 'CREATE' && isFor(request, '', 'pods')) return admitPod(request.object as Pod, request)
    return undefined
  },
  validate(request) {
    const { operation, resource, subresource } = request
    if (operation === 'CREATE' && isFor(request, '', 'pods')) validatePod(request.object as Pod, request)
    const isPod = resource.group === '' && resource.plural === 'pods'
    const isAddition = operation === 'UPDATE' && isPod && subresource === 'ephemeralcontainers'
    if (isAddition) validateEphemeral(request.object as Pod, request)
  },
}
