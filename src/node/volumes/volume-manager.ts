import path from 'node:path'
import type {
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ProjectedVolumeSource,
  Secret,
  Volume,
} from '../../api/generated/types.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import { quantityToNumber } from '../../api/numbers/quantity.ts'
import type { SandboxReason } from '../../api/kinds/pods/sandbox-condition.ts'
import type { Place } from '../env/field-values.ts'
import { type PodUserSource, noPodUsers } from '../runtime/pod-users.ts'
import { StageError } from '../stages.ts'
import type { Disk } from './disk.ts'
import { type VolumeFiles, configMapFiles, downwardFiles, secretFiles } from './files.ts'
import { MountError } from './mount-error.ts'
import { type PrivatePaths, nothingPrivate, problemOfPath } from './private-paths.ts'
import type { Located } from './safe-walk.ts'

/** Reads the objects that volumes are generated from. Undefined if an object does not exist. */
export interface VolumeSources {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>
  secret(namespace: string, name: string): Promise<Secret | undefined>
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined>
  volume(name: string): Promise<PersistentVolume | undefined>
  /** Requests a token of the pod's service account. */
  token(pod: Pod, audience: string | undefined, expirationSeconds: Int64 | undefined): Promise<string>
  /** Called before a driver mounts a volume. Rejects if the driver fails. */
  driver?(name: string): Promise<void>
}

/**
 * The directory of a volume and its creator. The ownership of a directory of the machine is never changed. A directory
 * of an administrator (a local volume) keeps its owner.
 */
interface Mounted {
  at: string
  madeBy: 'machine' | 'people' | 'node'
}

const ofPod = (at: string): Mounted => ({ at, madeBy: 'node' })

const provisionedBy = 'pv.kubernetes.io/provisioned-by'

const isForReading = (volume: Volume): boolean =>
  [volume.configMap, volume.secret, volume.downwardAPI, volume.projected].some((source) => source !== undefined)

const absent = (kind: string, resource: string, name: string): string =>
  `failed to fetch ${kind} from API server: ${resource} "${name}" not found`

/** True for an error of the file system. Clients wrap errors of network calls. */
const isDiskError = (e: unknown): boolean => e instanceof Error && 'syscall' in e

interface VolumeManagerOptions {
  users?: PodUserSource | undefined
  privatePaths?: PrivatePaths | undefined
  mountsMemory?: boolean
}

/** Creates the volumes of pods below a directory of the node. */
export class VolumeManager {
  readonly #disk: Disk
  readonly #root: string
  readonly #users: PodUserSource
  readonly #private: PrivatePaths
  readonly #mountsMemory: boolean

  /**
   * `mountsMemory`: volumes with the medium Memory are tmpfs mounts, which requires root. Otherwise they are
   * directories.
   */
  constructor(
    disk: Disk,
    root: string,
    { users = noPodUsers, privatePaths = nothingPrivate, mountsMemory = false }: VolumeManagerOptions = {},
  ) {
    this.#mountsMemory = mountsMemory
    this.#disk = disk
    this.#root = root
    this.#users = users
    this.#private = privatePaths
  }

  /** The directory with all files of a pod. */
  podDirectory(uid: string): string {
    return path.join(this.#root, 'pods', uid)
  }

  /**
   * Creates or updates all volumes of a pod and resolves with their paths. Rejects with a MountError for the first
   * volume that fails, or with an error of `sources`.
   */
  async mount(pod: Pod, sources: VolumeSources, place: Place): Promise<Map<string, string>> {
    const paths = new Map<string, string>()
    const { fsGroup } = pod.spec.securityContext ?? {}
    const user = await this.#users.of(pod)
    for (const volume of pod.spec.volumes ?? []) {
      try {
        const { at, madeBy } = await this.#mountOne(pod, volume, sources, place, user)
        paths.set(volume.name, at)
        if (user !== undefined && madeBy === 'node') await this.#disk.giveToUser(at, user)
        if (fsGroup !== undefined && madeBy !== 'machine')
          await this.#disk.giveToGroup(at, Number(fsGroup), isForReading(volume))
      } catch (e) {
        throw isDiskError(e) ? MountError.of(volume.name, e) : e
      }
    }
    return paths
  }

  /** False on nodes whose containers see no files. */
  get hasFiles(): boolean {
    return this.#disk.keepsFiles
  }

  /** The termination message file of a container. Two consecutive starts use different files. */
  noteFile(uid: string, container: string, attempt: number): string {
    return path.join(this.podDirectory(uid), 'containers', container, `${attempt % 2}.note`)
  }

  async makeNote(uid: string, container: string, attempt: number): Promise<string> {
    const file = this.noteFile(uid, container, attempt)
    await this.#disk.makeNote(file)
    return file
  }

  /**
   * Writes a pod's /etc/hosts and resolves with its path. The file is not replaced, because it is mounted into
   * containers.
   */
  async makeHosts(uid: string, text: string): Promise<string> {
    const file = path.join(this.podDirectory(uid), 'etc-hosts')
    await this.#disk.writeFile(file, text)
    return file
  }

  /** The user id of a pod. Undefined if pods have no users of their own. */
  userOf(pod: Pod): Promise<number | undefined> {
    return this.#users.of(pod)
  }

  /** Resolves a mounted path of a volume. Rejects if it is outside of the volume, or a private path of the node. */
  async locate(root: string, below: string, isHostPath: boolean): Promise<Located> {
    const located = await this.#disk.locate(root, below)
    const problem = isHostPath ? problemOfPath(this.#private, located.path, 'pod') : undefined
    if (problem !== undefined) throw new Error(problem)
    return located
  }

  readNote(uid: string, container: string, attempt: number, mostBytes: number): Promise<string> {
    return this.#disk.readEnd(this.noteFile(uid, container, attempt), mostBytes)
  }

  /** Removes a pod's volumes. Contents of claims and host paths are kept, and so are logs. */
  async unmount(uid: string): Promise<void> {
    await this.#disk.remove(path.join(this.podDirectory(uid), 'volumes'))
  }

  /** Removes all files of a pod that is gone. */
  async forget(uid: string): Promise<void> {
    await this.#disk.remove(this.podDirectory(uid))
    this.#users.release(uid)
  }

  async #mountOne(
    pod: Pod,
    volume: Volume,
    sources: VolumeSources,
    place: Place,
    user: number | undefined,
  ): Promise<Mounted> {
    const { name } = volume
    const namespace = pod.metadata.namespace ?? ''
    const directory = (plugin: string) =>
      path.join(this.podDirectory(pod.metadata.uid ?? ''), 'volumes', `kubernetes.io~${plugin}`, name)
    const files = async (plugin: string, contents: VolumeFiles) => {
      await this.#disk.writeFiles(directory(plugin), contents, user)
      return ofPod(directory(plugin))
    }
    if (volume.configMap) {
      const { name: source = '', defaultMode } = volume.configMap
      return files(
        'configmap',
        configMapFiles(name, source, volume.configMap, await sources.configMap(namespace, source), defaultMode),
      )
    }
    if (volume.secret) {
      const { secretName = '', defaultMode } = volume.secret
      return files(
        'secret',
        secretFiles(name, secretName, volume.secret, await sources.secret(namespace, secretName), defaultMode),
      )
    }
    if (volume.downwardAPI)
      return files(
        'downward-api',
        downwardFiles(name, pod, volume.downwardAPI.items ?? [], place, volume.downwardAPI.defaultMode),
      )
    if (volume.projected) return files('projected', await this.#projected(pod, name, volume.projected, sources, place))
    if (volume.hostPath)
      return {
        at: await this.#hostPath(name, volume.hostPath.path, volume.hostPath.type ?? '', 'pod', user),
        madeBy: 'machine',
      }
    if (volume.persistentVolumeClaim)
      return this.#claim(pod, name, volume.persistentVolumeClaim.claimName, sources, user)
    if (volume.ephemeral) return this.#claim(pod, name, `${pod.metadata.name}-${name}`, sources, user)
    if (volume.csi) await this.#driver(name, volume.csi.driver, sources)
    // An empty directory would take the place of data. Nodes without files have only the failures of drivers.
    const problem = this.#disk.keepsFiles ? missingPlugin(volume) : undefined
    if (problem !== undefined) throw MountError.of(name, problem)
    const { medium, sizeLimit } = volume.emptyDir ?? {}
    if (medium === 'Memory' && this.#mountsMemory) {
      await this.#disk.makeMemory(
        directory('empty-dir'),
        sizeLimit === undefined ? undefined : quantityToNumber(sizeLimit),
      )
      return ofPod(directory('empty-dir'))
    }
    await this.#disk.makeDirectory(directory('empty-dir'), 0o777)
    return ofPod(directory('empty-dir'))
  }

  async #projected(
    pod: Pod,
    name: string,
    projected: ProjectedVolumeSource,
    sources: VolumeSources,
    place: Place,
  ): Promise<VolumeFiles> {
    const namespace = pod.metadata.namespace ?? ''
    const all: VolumeFiles = new Map()
    const { defaultMode } = projected
    const add = (files: VolumeFiles) => {
      for (const [at, file] of files) all.set(at, file)
    }
    for (const source of projected.sources ?? []) {
      const { configMap, secret, downwardAPI, serviceAccountToken } = source
      const unknown = (['clusterTrustBundle', 'podCertificate'] as const).find((kind) => source[kind])
      if (unknown && this.#disk.keepsFiles)
        throw MountError.of(name, `the projected source ${unknown} is not supported by this node`)
      if (configMap)
        add(
          configMapFiles(
            name,
            configMap.name ?? '',
            configMap,
            await sources.configMap(namespace, configMap.name ?? ''),
            defaultMode,
          ),
        )
      if (secret)
        add(
          secretFiles(name, secret.name ?? '', secret, await sources.secret(namespace, secret.name ?? ''), defaultMode),
        )
      if (downwardAPI) add(downwardFiles(name, pod, downwardAPI.items ?? [], place, defaultMode))
      // A token that no process can read is not requested.
      if (serviceAccountToken && this.#disk.keepsFiles) {
        const { path: at, audience, expirationSeconds } = serviceAccountToken
        const token = await sources.token(pod, audience, expirationSeconds).catch((e: unknown) => {
          throw MountError.of(name, `failed to fetch token: ${e instanceof Error ? e.message : String(e)}`)
        })
        // As in Kubernetes, a volume with an fsGroup has a token that only the group can read.
        const isForGroup = pod.spec.securityContext?.fsGroup !== undefined
        all.set(at, { data: Buffer.from(token), mode: isForGroup ? 0o600 : (defaultMode ?? 0o644) })
      }
    }
    return all
  }

  async #hostPath(
    volume: string,
    hostPath: string,
    type: string,
    askedBy: 'pod' | 'volume',
    user: number | undefined,
  ): Promise<string> {
    try {
      const problem = this.#disk.keepsFiles ? problemOfPath(this.#private, hostPath, askedBy) : undefined
      if (problem !== undefined) throw new Error(problem)
      await this.#disk.prepareHostPath(hostPath, type, user)
    } catch (e) {
      throw MountError.of(volume, e)
    }
    return hostPath
  }

  /** Runs the driver's part of the mount. A volume from a path has no driver. */
  async #driver(volume: string, driver: string | undefined, sources: VolumeSources): Promise<void> {
    if (driver === undefined || !sources.driver) return
    await sources.driver(driver).catch((e: unknown) => {
      throw e instanceof StageError ? MountError.of(volume, e) : e
    })
  }

  async #claim(
    pod: Pod,
    volume: string,
    claimName: string,
    sources: VolumeSources,
    user: number | undefined,
  ): Promise<Mounted> {
    const namespace = pod.metadata.namespace ?? ''
    const wait = (reason: SandboxReason, problem: string) => {
      const why = `error processing PVC ${namespace}/${claimName}: ${problem}`
      const volumes = `unmounted volumes=[${volume}], unattached volumes=[], failed to process volumes=[${volume}]`
      return new MountError(volume, reason, why, `Unable to attach or mount volumes: ${volumes}: ${why}`)
    }
    const claim = await sources.claim(namespace, claimName)
    if (!claim) throw wait('ClaimNotFound', absent('PVC', 'persistentvolumeclaims', claimName))
    if (claim.metadata.deletionTimestamp) throw wait('VolumeMountFailed', 'PVC is being deleted')
    const { volumeName } = claim.spec
    if (claim.status?.phase !== 'Bound' || !volumeName) throw wait('ClaimNotBound', 'PVC is not bound')
    const bound = await sources.volume(volumeName)
    if (!bound) throw wait('VolumeMountFailed', absent(`PV ${volumeName}`, 'persistentvolumes', volumeName))
    const { hostPath, local, csi } = bound.spec
    await this.#driver(volume, csi?.driver ?? bound.metadata.annotations?.[provisionedBy], sources)
    if (hostPath) {
      const isMadeForIt = bound.metadata.annotations?.[provisionedBy] !== undefined
      const at = await this.#hostPath(volume, hostPath.path, hostPath.type ?? 'DirectoryOrCreate', 'volume', user)
      return { at, madeBy: isMadeForIt ? 'node' : 'machine' }
    }
    if (local) return { at: await this.#hostPath(volume, local.path, 'Directory', 'volume', user), madeBy: 'people' }
    // A directory replaces the volume of any other driver: one per volume and node.
    const directory = path.join(this.#root, 'plugins', 'volumes', bound.metadata.name ?? '')
    await this.#disk.makeDirectory(directory, 0o777)
    return ofPod(directory)
  }
}

/** The reason why a node cannot mount a volume that is not an emptyDir. Undefined for an emptyDir, the default. */
function missingPlugin({ name: _, emptyDir, csi, ...others }: Volume): string | undefined {
  if (csi)
    return `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ${csi.driver} not found in the list of registered CSI drivers`
  const [kind] = Object.keys(others)
  return emptyDir || kind === undefined ? undefined : `volumes of the kind ${kind} are not supported by this node`
}
