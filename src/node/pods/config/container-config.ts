import path from 'node:path'
import type { Pod, VolumeMount } from '../../../api/generated/types.ts'
import { quantityMilli, quantityToNumber } from '../../../api/numbers/quantity.ts'
import { ConfigError, type EnvSources, environmentOf } from '../../env/environment.ts'
import { expand, variableNames } from '../../env/expand.ts'
import type { Place } from '../../env/field-values.ts'
import {
  containerHashAnnotation,
  containerNameLabel,
  containerSortAnnotation,
  gracePeriodAnnotation,
  messagePathAnnotation,
  messagePolicyAnnotation,
  podNameLabel,
  podNamespaceLabel,
  podUidLabel,
  resourcesAnnotation,
  restartCountAnnotation,
  restartPolicyAnnotation,
} from '../../runtime/labels.ts'
import type { ContainerConfig, Mount } from '../../runtime/runtime.ts'
import type { Located } from '../../volumes/safe-walk.ts'
import { containerUser } from './container-user.ts'
import { type PodContainer, hashOf } from '../containers.ts'

export interface ContainerSurroundings {
  env: EnvSources
  place: Place
  /** The path of each volume of the pod, by name. */
  volumes: ReadonlyMap<string, string>
  /** The pod's own user id, where each pod has one. */
  podUser?: number | undefined
  /**
   * Resolves a path at or below a volume's root. Rejects if it leads outside the volume or to a private path of the
   * node.
   */
  locate(root: string, below: string, isHostPath: boolean): Promise<Located>
  /** False on nodes whose containers see no files. */
  hasFiles: boolean
  /** The file that backs the container's termination message path. */
  note: string
}

/** The container configuration for the runtime. Throws a ConfigError if an object that it refers to is missing. */
export async function containerConfig(
  pod: Pod,
  container: PodContainer,
  attempt: number,
  around: ContainerSurroundings,
): Promise<ContainerConfig> {
  const { spec } = container
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const variables = await environmentOf(pod, spec, around.env, around.place)
  const known = new Map(variables)
  const { limits } = spec.resources ?? {}
  const messagePath = spec.terminationMessagePath || '/dev/termination-log'
  return {
    metadata: { name: spec.name, attempt },
    image: spec.image ?? '',
    command: (spec.command ?? []).map((word) => expand(word, known)),
    args: (spec.args ?? []).map((word) => expand(word, known)),
    workingDir: spec.workingDir ?? '',
    envs: [...variables].map(([key, value]) => ({ key, value })),
    mounts: [
      ...(await mountsOf(pod, container, around, known)),
      { containerPath: messagePath, hostPath: around.note, readOnly: false, propagation: 'private' },
    ],
    labels: {
      [containerNameLabel]: spec.name,
      [podNameLabel]: name,
      [podNamespaceLabel]: namespace,
      [podUidLabel]: uid,
    },
    annotations: {
      [containerHashAnnotation]: hashOf(spec),
      [restartCountAnnotation]: String(attempt),
      [messagePathAnnotation]: messagePath,
      [messagePolicyAnnotation]: spec.terminationMessagePolicy ?? 'File',
      [gracePeriodAnnotation]: String(pod.spec.terminationGracePeriodSeconds ?? 30),
      [containerSortAnnotation]: container.sort,
      [resourcesAnnotation]: JSON.stringify(spec.resources ?? {}),
      [restartPolicyAnnotation]: spec.restartPolicy ?? pod.spec.restartPolicy ?? 'Always',
    },
    logPath: path.join(spec.name, `${attempt}.log`),
    stdin: spec.stdin === true,
    stdinOnce: spec.stdinOnce === true,
    tty: spec.tty === true,
    ports: (spec.ports ?? []).map((p) => ({
      name: p.name ?? '',
      containerPort: p.containerPort,
      protocol: p.protocol ?? 'TCP',
    })),
    resources: {
      ...(limits?.['cpu'] ? { cpuMilli: Number(quantityMilli(limits['cpu'])) } : {}),
      ...(limits?.['memory'] ? { memoryBytes: quantityToNumber(limits['memory']) } : {}),
    },
    ...containerUser(pod, spec, around.podUser),
    readOnlyRootFilesystem: spec.securityContext?.readOnlyRootFilesystem === true,
    stopSignal: spec.lifecycle?.stopSignal ?? 'SIGTERM',
  }
}

async function mountsOf(
  pod: Pod,
  { spec }: PodContainer,
  around: ContainerSurroundings,
  variables: ReadonlyMap<string, string>,
): Promise<Mount[]> {
  const mounts: Mount[] = []
  for (const mount of spec.volumeMounts ?? []) {
    const root = around.volumes.get(mount.name)
    if (root === undefined)
      throw new ConfigError(`cannot find volume "${mount.name}" to mount into container "${spec.name}"`)
    if (mount.recursiveReadOnly === 'Enabled' && around.hasFiles) {
      const why = `volume "${mount.name}" requested recursive read-only mode, but it is not supported by the runtime`
      throw new ConfigError(`failed to resolve recursive read-only mode: ${why}`)
    }
    const below = subPathOf(mount, variables)
    const propagation =
      mount.mountPropagation === 'Bidirectional'
        ? 'bidirectional'
        : mount.mountPropagation === 'HostToContainer'
          ? 'hostToContainer'
          : 'private'
    const isHostPath = pod.spec.volumes?.find(({ name }) => name === mount.name)?.hostPath !== undefined
    const { path: hostPath, identity } = await around.locate(root, below, isHostPath).catch((e: unknown) => {
      const what = below === '' ? `volume: ${e instanceof Error ? e.message : String(e)}` : 'subPath'
      throw new ConfigError(`failed to prepare ${what} for volumeMount "${mount.name}" of container "${spec.name}"`)
    })
    const place = { ...(below === '' ? {} : { isSubPath: true }), ...(identity === undefined ? {} : { identity }) }
    mounts.push({ containerPath: mount.mountPath, hostPath, readOnly: mount.readOnly === true, propagation, ...place })
  }
  return mounts
}

/**
 * The subPath of a volume mount; empty if the whole volume is mounted. The API server validates the text of a
 * subPathExpr. The result of its expansion is validated here, with kubelet's messages.
 */
function subPathOf({ subPath = '', subPathExpr }: VolumeMount, variables: ReadonlyMap<string, string>): string {
  if (subPathExpr) {
    const missing = variableNames(subPathExpr).filter((name) => !variables.get(name))
    if (missing.length > 0) throw new ConfigError(`missing value for ${[...new Set(missing)].sort().join(', ')}`)
  }
  const below = subPathExpr ? expand(subPathExpr, variables) : subPath
  if (path.isAbsolute(below)) throw new ConfigError(`error SubPath \`${below}\` must not be an absolute path`)
  if (below.split('/').includes('..'))
    throw new ConfigError(`unable to provision SubPath \`${below}\`: must not contain '..'`)
  return below
}
