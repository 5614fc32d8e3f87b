import { createHash } from 'node:crypto'
import type { Container, Pod, ServiceAccount, Volume } from '../../api/generated/types.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isFor, refusal } from './refusal.ts'

const usualName = 'default'
const mirrorAnnotation = 'kubernetes.io/config.mirror'
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
/** An hour and a little: Kubernetes tells tokens that it mounts itself from others by it. */
const tokenSeconds = 3607
const letters = 'bcdfghjklmnpqrstvwxz2456789'

/** Tells the volume from others of the pod. */
function suffixOf({ metadata }: Pod, now: number): string {
  const digest = createHash('sha256').update(`${metadata.namespace}/${metadata.name ?? metadata.generateName}/${now}`).digest()
  return [...digest.subarray(0, 5)].map((byte) => letters[byte % letters.length]).join('')
}

const accessVolume = (name: string): Volume =>
  ({
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
      ],
    },
  }) as Volume

/** Containers that have something else at its place keep that. */
function mountToken(pod: Pod, now: number): void {
  const lacking = [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])].filter((c: Container) => !c.volumeMounts?.some((m) => m.mountPath === mountPath))
  if (lacking.length === 0) return
  const name = `kube-api-access-${suffixOf(pod, now)}`
  for (const container of lacking) container.volumeMounts = [...(container.volumeMounts ?? []), { name, mountPath, readOnly: true }]
  pod.spec.volumes = [...(pod.spec.volumes ?? []), accessVolume(name)]
}

function admitPod(pod: Pod, request: AdmissionRequest): void {
  const { spec, metadata } = pod
  if (metadata.annotations?.[mirrorAnnotation] !== undefined) return
  spec.serviceAccountName ||= usualName
  spec.serviceAccount = spec.serviceAccountName
  const name = spec.serviceAccountName
  const account = request.reader.get<ServiceAccount>('', 'serviceaccounts', request.namespace, name)
  if (!account) {
    // Where no controller makes accounts, nobody could run a pod. Whoever names one of their own means it.
    if (name === usualName) return
    throw refusal(request, `error looking up service account ${request.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`)
  }
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(pod, request.now)
  if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length) spec.imagePullSecrets = account.imagePullSecrets.map(({ name: secret }) => ({ name: secret }))
}

/** Gives pods an account, the account's pull secrets and, unless it is not wanted, a token of it at the place where programs look for one. */
export const serviceAccount: AdmissionPlugin = {
  name: 'ServiceAccount',
  admit(request) {
    if (request.operation === 'CREATE' && isFor(request, '', 'pods')) admitPod(request.object as Pod, request)
  },
}
