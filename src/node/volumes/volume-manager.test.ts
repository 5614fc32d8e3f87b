import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ConfigMap, PersistentVolume, PersistentVolumeClaim, Secret, Volume } from '../../api/generated/types.ts'
import { samplePod } from '../sample-pod.ts'
import { localDisk } from './disk.ts'
import { MountError } from './mount-error.ts'
import { VolumeManager, type VolumeSources } from './volume-manager.ts'

let root: string
let volumes: VolumeManager
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'volumes-'))
  volumes = new VolumeManager(localDisk, root)
})
afterEach(() => rm(root, { recursive: true, force: true }))

let settings: ConfigMap | undefined
const sources: VolumeSources = {
  configMap: async (_, name) => (name === 'settings' ? settings : undefined),
  secret: async (_, name) => (name === 'keys' ? ({ metadata: {}, data: { token: Buffer.from('s3cret').toString('base64') } } as Secret) : undefined),
  claim: async (_, name) =>
    name === 'none' ? undefined : ({ metadata: {}, spec: { volumeName: 'pv' }, status: { phase: name === 'bound' ? 'Bound' : 'Pending' } } as unknown as PersistentVolumeClaim),
  volume: async () => ({ metadata: { name: 'pv' }, spec: { hostPath: { path: path.join(root, 'pv') } } }) as PersistentVolume,
  token: async () => 'a token',
}
const place = { podIps: [], hostIps: [], allocatable: {} }

const mount = async (...all: Volume[]) => volumes.mount(samplePod({ volumes: all }, { labels: { app: 'web' } }), sources, place)
const read = async (volume: Volume, file: string) => readFile(path.join((await mount(volume)).get(volume.name)!, file), 'utf8')

beforeEach(() => {
  settings = { metadata: {}, data: { colour: 'red', size: '3' } }
})

describe('VolumeManager.mount()', () => {
  it.each<[string, Volume, string, string]>([
    ['a config map', { name: 'v', configMap: { name: 'settings' } }, 'colour', 'red'],
    ['a key of it elsewhere', { name: 'v', configMap: { name: 'settings', items: [{ key: 'colour', path: 'deep/down' }] } }, 'deep/down', 'red'],
    ['a secret', { name: 'v', secret: { secretName: 'keys' } }, 'token', 's3cret'],
    ['the pod itself', { name: 'v', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } }, 'labels', 'app="web"'],
    ['a token', { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }, { configMap: { name: 'settings' } }] } }, 'token', 'a token'],
    ['all of it in one place', { name: 'v', projected: { sources: [{ secret: { name: 'keys' } }, { configMap: { name: 'settings' } }] } }, 'size', '3'],
  ])('shows %s', async (_, volume, file, expected) => {
    expect(await read(volume, file)).toBe(expected)
  })

  it.each<[string, Volume, string]>([
    ['of a CSI driver', { name: 'v', csi: { driver: 'disks.test' } }, 'driver name disks.test not found in the list of registered CSI drivers'],
    ['of another kind', { name: 'v', nfs: { server: 'files.test', path: '/' } }, 'volumes of the kind nfs are not supported by this node'],
    ['of an image', { name: 'v', image: { reference: 'data:1' } }, 'volumes of the kind image are not supported by this node'],
    ['with trust bundles', { name: 'v', projected: { sources: [{ clusterTrustBundle: { path: 'ca', name: 'all' } }] } }, 'the projected source clusterTrustBundle is not supported'],
  ])('fails for a volume %s, and shows no empty directory instead', async (_, volume, message) => {
    await expect(mount(volume)).rejects.toThrow(message)
    await expect(mount(volume)).rejects.toBeInstanceOf(MountError)
  })

  it('has an empty directory for a volume without a source', async () => {
    expect(await readdir((await mount({ name: 'v' })).get('v')!)).toEqual([])
  })

  it('turns over to what is there now, all at once, and removes what is gone', async () => {
    const volume: Volume = { name: 'v', configMap: { name: 'settings' } }
    await mount(volume)
    settings = { metadata: {}, data: { colour: 'blue' } }
    expect(await read(volume, 'colour')).toBe('blue')
    const at = (await mount(volume)).get('v')!
    expect((await readdir(at)).filter((name) => !name.startsWith('..'))).toEqual(['colour'])
    expect((await readdir(at)).length).toBe(3)
  })

  it('gives files the mode that is asked for', async () => {
    const at = (await mount({ name: 'v', secret: { secretName: 'keys', defaultMode: 0o400 } })).get('v')!
    expect((await stat(path.join(at, 'token'))).mode & 0o777).toBe(0o400)
  })

  it('makes empty directories that anybody may write to, and the directory of a claim', async () => {
    const paths = await mount({ name: 'empty', emptyDir: {} }, { name: 'claimed', persistentVolumeClaim: { claimName: 'bound' } })
    expect((await stat(paths.get('empty')!)).mode & 0o777).toBe(0o777)
    expect(paths.get('claimed')).toBe(path.join(root, 'pv'))
    expect((await stat(path.join(root, 'pv'))).isDirectory()).toBe(true)
  })

  it.each(['', 'DirectoryOrCreate'])('makes a path of the host that is missing, with type "%s"', async (type) => {
    const wanted = path.join(root, 'host', type, 'data')
    expect((await mount({ name: 'v', hostPath: { path: wanted, type } })).get('v')).toBe(wanted)
    expect((await stat(wanted)).isDirectory()).toBe(true)
  })

  it('removes what was made, and keeps what is claimed, and logs until the pod is gone', async () => {
    await mount({ name: 'empty', emptyDir: {} }, { name: 'claimed', persistentVolumeClaim: { claimName: 'bound' } })
    await localDisk.makeDirectory(path.join(volumes.podDirectory('u1'), 'logs'))
    await volumes.unmount('u1')
    expect((await readdir(root)).sort()).toEqual(['pods', 'pv'])
    expect(await readdir(volumes.podDirectory('u1'))).toEqual(['logs'])
    await volumes.forget('u1')
    expect(await readdir(path.join(root, 'pods'))).toEqual([])
  })

  const setUp = 'MountVolume.SetUp failed for volume "v" : '
  const unmounted =
    'Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: '
  const unbound = 'error processing PVC default/waiting: PVC is not bound'
  const missing =
    'error processing PVC default/none: failed to fetch PVC from API server: persistentvolumeclaims "none" not found'
  it.each<[string, Volume, string, string, string?]>([
    ['a missing config map', { name: 'v', configMap: { name: 'x' } }, 'ConfigMapNotFound', 'configmap "x" not found'],
    [
      'a missing key', { name: 'v', configMap: { name: 'settings', items: [{ key: 'x', path: 'x' }] } },
      'ConfigMapKeyNotFound', 'configmap references non-existent config key: x',
    ],
    ['a missing secret', { name: 'v', secret: { secretName: 'x' } }, 'SecretNotFound', 'secret "x" not found'],
    [
      'a missing key of a secret', { name: 'v', secret: { secretName: 'keys', items: [{ key: 'x', path: 'x' }] } },
      'SecretKeyNotFound', 'references non-existent secret key: x',
    ],
    [
      'a missing claim', { name: 'v', persistentVolumeClaim: { claimName: 'none' } }, 'ClaimNotFound', missing,
      unmounted,
    ],
    [
      'a claim that is not bound', { name: 'v', persistentVolumeClaim: { claimName: 'waiting' } }, 'ClaimNotBound',
      unbound, unmounted,
    ],
    [
      'a path that is no directory', { name: 'v', hostPath: { path: '/nowhere/at/all', type: 'Directory' } },
      'VolumeMountFailed', 'hostPath type check failed: /nowhere/at/all is not a directory',
    ],
  ])('says what is wrong with %s', async (_, volume, reason, why, event = setUp) => {
    const error = await mount(volume).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(MountError)
    expect(error).toMatchObject({ failure: { reason, message: `${setUp}${why}` }, event: `${event}${why}` })
  })

  it('names the volume for which the disk has failed', async () => {
    const full = {
      ...localDisk,
      writeFiles: () => Promise.reject(
        Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
      ),
    }
    const all =
      samplePod({ volumes: [{ name: 'first', emptyDir: {} }, { name: 'v', configMap: { name: 'settings' } }] })
    const error = await new VolumeManager(full, root).mount(all, sources, place).catch((e: unknown) => e)
    expect(error).toMatchObject(
      { failure: { reason: 'VolumeMountFailed', message: `${setUp}ENOSPC: no space left on device, write` } }
    )
  })

  it('does without what is optional', async () => {
    expect((await mount({ name: 'v', configMap: { name: 'x', optional: true } })).has('v')).toBe(true)
  })
})

describe.runIf(process.getuid?.() === 0)('an fsGroup', () => {
  const grouped = async (volume: Volume) => (await volumes.mount(samplePod({ volumes: [volume], securityContext: { fsGroup: 2000 } }), sources, place)).get(volume.name)!
  const modeOf = async (at: string) => {
    const { gid, mode } = await stat(at)
    return `${gid} ${(mode & 0o7777).toString(8)}`
  }

  it('owns what is made for the pod, and what is made in it', async () => {
    const at = await grouped({ name: 'v', emptyDir: {} })
    expect(await modeOf(at)).toBe('2000 2777')
    await writeFile(path.join(at, 'later'), '')
    expect((await stat(path.join(at, 'later'))).gid).toBe(2000)
  })

  it('may read what is only for reading', async () => {
    const at = await grouped({ name: 'v', secret: { secretName: 'keys', defaultMode: 0o400 } })
    expect(await modeOf(path.join(at, 'token'))).toBe('2000 440')
  })

  it('may read a token, and nobody else', async () => {
    const at = await grouped({ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } })
    expect(await modeOf(path.join(at, 'token'))).toBe('2000 640')
  })

  it.each<[string, Volume]>([
    ['a directory', { name: 'v', hostPath: { path: '' } }],
    ['a volume that is one', { name: 'v', persistentVolumeClaim: { claimName: 'bound' } }],
  ])("has no part in the machine's own: %s", async (_what, volume) => {
    const mine = path.join(root, 'pv')
    await mkdir(mine)
    const at = await grouped(volume.hostPath ? { ...volume, hostPath: { path: mine } } : volume)
    expect(at).toBe(mine)
    expect((await stat(at)).gid).toBe(0)
  })
})
