import type { Pod, ServiceAccount } from '../../../api/generated/types.ts'
import type { AnyContainer } from '../../../api/kinds/containers/visit-containers.ts'

const annotation = 'kubernetes.io/enforce-mountable-secrets'

/** True for texts that Go's strconv.ParseBool reads as true. */
const isTrue = (text: string | undefined) =>
  text !== undefined && ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)

/** True if an account restricts its pods to the secrets that it lists. */
export const limitsSecrets = ({ metadata }: ServiceAccount): boolean => isTrue(metadata.annotations?.[annotation])

type Sort = 'init container' | 'container' | 'ephemeral container'

function containerProblem(
  sort: Sort,
  containers: readonly AnyContainer[],
  isAllowed: (secret: string) => boolean,
): string | undefined {
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const { name: variable, valueFrom } of env) {
      const secret = valueFrom?.secretKeyRef?.name
      if (secret !== undefined && !isAllowed(secret)) {
        return `${sort} ${name} with envVar ${variable} referencing secret.secretName="${secret}"`
      }
    }
    for (const { secretRef } of envFrom) {
      if (secretRef && !isAllowed(secretRef.name ?? '')) {
        return `${sort} ${name} with envFrom referencing secret.secretName="${secretRef.name ?? ''}"`
      }
    }
  }
  return undefined
}

function podProblem({ spec }: Pod, isAllowed: (secret: string) => boolean): string | undefined {
  const volume = (spec.volumes ?? []).find(({ secret }) => secret && !isAllowed(secret.secretName ?? ''))
  if (volume) return `volume with secret.secretName="${volume.secret!.secretName ?? ''}"`
  return (
    containerProblem('init container', spec.initContainers ?? [], isAllowed) ??
    containerProblem('container', spec.containers ?? [], isAllowed)
  )
}

/** Describes a secret that the pod uses and its account does not list; undefined if there is none. */
export function secretProblem(pod: Pod, account: ServiceAccount): string | undefined {
  const mountable = new Set((account.secrets ?? []).map(({ name }) => name))
  const problem = podProblem(pod, (secret) => mountable.has(secret))
  const name = account.metadata.name!
  if (problem) return `${problem} is not allowed because service account ${name} does not reference that secret`
  const pulling = new Set((account.imagePullSecrets ?? []).map((secret) => secret.name))
  const at = (pod.spec.imagePullSecrets ?? []).findIndex((secret) => !pulling.has(secret.name))
  if (at < 0) return undefined
  const pulled = `imagePullSecrets[${at}].name="${pod.spec.imagePullSecrets![at]!.name ?? ''}"`
  return `${pulled} is not allowed because service account ${name} does not reference that imagePullSecret`
}

/** As `secretProblem`, for the ephemeral containers of a running pod. */
export function ephemeralSecretProblem({ spec }: Pod, account: ServiceAccount): string | undefined {
  const mountable = new Set((account.secrets ?? []).map(({ name }) => name))
  const problem = containerProblem('ephemeral container', spec.ephemeralContainers ?? [], (secret) =>
    mountable.has(secret),
  )
  return (
    problem &&
    `${problem} is not allowed because service account ${account.metadata.name} does not reference that secret`
  )
}

/** Describes a reference that a mirror pod may not have; undefined if there is none. */
export function mirrorProblem({ spec }: Pod): string | undefined {
  if (spec.serviceAccountName) return 'a mirror pod may not reference service accounts'
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  const volumes = spec.volumes ?? []
  const usesSecret =
    (spec.imagePullSecrets ?? []).length > 0 ||
    volumes.some(({ secret, projected }) => secret ?? projected?.sources?.some((source) => source.secret)) ||
    containers.some(
      ({ env = [], envFrom = [] }) =>
        env.some(({ valueFrom }) => valueFrom?.secretKeyRef) || envFrom.some(({ secretRef }) => secretRef),
    )
  if (usesSecret) return 'a mirror pod may not reference secrets'
  if (volumes.some(({ projected }) => projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken))) {
    return 'a mirror pod may not use ServiceAccountToken volume projections'
  }
  return undefined
}
