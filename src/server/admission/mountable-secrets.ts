import type { Pod, ServiceAccount } from '../../api/generated/types.ts'
import type { AnyContainer } from '../../api/kinds/visit-containers.ts'

const annotation = 'kubernetes.io/enforce-mountable-secrets'

/** As Go reads a truth value. */
const isTrue = (text: string | undefined) =>
  text !== undefined && ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)

/** True if an account lets its pods have only the secrets that it names. */
export const limitsSecrets = ({ metadata }: ServiceAccount): boolean => isTrue(metadata.annotations?.[annotation])

type Sort = 'init container' | 'container' | 'ephemeral container'

function containerProblem(
  sort: Sort, containers: readonly AnyContainer[], isAllowed: (secret: string) => boolean,
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

/** What a pod wants that its account does not name; undefined where there is nothing. */
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

/** The same for containers that are added to a pod that runs. */
export function ephemeralSecretProblem({ spec }: Pod, account: ServiceAccount): string | undefined {
  const mountable = new Set((account.secrets ?? []).map(({ name }) => name))
  const problem =
    containerProblem('ephemeral container', spec.ephemeralContainers ?? [], (secret) => mountable.has(secret))
  return problem &&
    `${problem} is not allowed because service account ${account.metadata.name} does not reference that secret`
}

/** What the pod of a file on a node may not name: nobody asked the server for it. */
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
