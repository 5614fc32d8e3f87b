import { mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { VolumeMount } from '../../api/generated/types.ts'
import { samplePod } from '../sample-pod.ts'
import { localDisk, noDisk } from '../volumes/disk.ts'
import { containerConfig } from './config/container-config.ts'
import { containersOf } from './containers.ts'

let volume: string

beforeEach(async () => {
  volume = await realpath(await mkdtemp(path.join(tmpdir(), 'sub-path-')))
  await mkdir(path.join(volume, 'there'), { mode: 0o700 })
  await writeFile(path.join(volume, 'there', 'file'), 'x')
  await symlink('/etc', path.join(volume, 'out'))
  await symlink('there', path.join(volume, 'link'))
})

afterEach(() => rm(volume, { recursive: true, force: true }))

/** The path on the machine that a container gets which mounts a part of the volume. */
async function mounted(mount: Partial<VolumeMount>, env: Record<string, string> = {}, disk = localDisk): Promise<string> {
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
  const volumeMounts = [{ name: 'data', mountPath: '/data', ...mount }]
  const pod = samplePod({ containers: [{ name: 'app', image: 'i', env: variables, volumeMounts, resources: {} }] })
  const none = async () => undefined
  const config = await containerConfig(pod, containersOf(pod)[0]!, 0, {
    env: { configMap: none, secret: none, services: [] },
    place: { podIps: [], hostIps: [], allocatable: {} },
    volumes: new Map([['data', volume]]),
    note: '/note',
    hasFiles: disk.keepsFiles,
    locate: (root, below) => disk.locate(root, below),
  })
  return path.relative(volume, config.mounts[0]!.hostPath)
}

describe('a part of a volume', () => {
  it.each<[string, Partial<VolumeMount>, Record<string, string>, string]>([
    ['all of it', {}, {}, ''],
    ['a directory', { subPath: 'there' }, {}, 'there'],
    ['a file', { subPath: 'there/file' }, {}, 'there/file'],
    ['a directory that is not there yet', { subPath: 'new/one' }, {}, 'new/one'],
    ['through a link that stays inside', { subPath: 'link/file' }, {}, 'there/file'],
    ['by a variable', { subPathExpr: '$(WHO)/logs' }, { WHO: 'ann' }, 'ann/logs'],
    ['by a variable that stands for itself', { subPathExpr: '$$(WHO)' }, {}, '$(WHO)'],
  ])('is mounted: %s', async (_what, mount, env, expected) => {
    expect(await mounted(mount, env)).toBe(expected)
  })

  it.each<[string, Partial<VolumeMount>, Record<string, string>, string]>([
    ['a variable that leads up', { subPathExpr: '$(X)' }, { X: '../../../etc' }, "unable to provision SubPath `../../../etc`: must not contain '..'"],
    ['two that do together', { subPathExpr: '$(X)$(Y)/etc' }, { X: '.', Y: '.' }, "unable to provision SubPath `../etc`: must not contain '..'"],
    ['a variable that begins at the root', { subPathExpr: '$(X)' }, { X: '/etc' }, 'error SubPath `/etc` must not be an absolute path'],
    ['a variable that is not there', { subPathExpr: '$(B)/$(A)/$(A)' }, {}, 'missing value for A, B'],
    ['a variable that is empty', { subPathExpr: '$(X)' }, { X: '' }, 'missing value for X'],
    ['a link out of the volume', { subPath: 'out' }, {}, 'failed to prepare subPath for volumeMount "data" of container "app"'],
    ['what is behind such a link', { subPath: 'out/new' }, {}, 'failed to prepare subPath for volumeMount "data" of container "app"'],
  ])('is refused: %s', async (_what, mount, env, message) => {
    await expect(mounted(mount, env)).rejects.toMatchObject({ name: 'ConfigError', message })
    expect(await readFile('/etc/passwd', 'utf8')).not.toBe('')
    await expect(stat('/etc/new')).rejects.toThrow('ENOENT')
  })

  it('is refused if all mounts below it are to be read-only, and the container would see them', async () => {
    const mount = { readOnly: true, recursiveReadOnly: 'Enabled' }
    await expect(mounted(mount)).rejects.toMatchObject({
      name: 'ConfigError',
      message: 'failed to resolve recursive read-only mode: volume "data" requested recursive read-only mode, but it is not supported by the runtime',
    })
    expect(await mounted({ ...mount, recursiveReadOnly: 'IfPossible' })).toBe('')
    expect(await mounted(mount, {}, noDisk)).toBe('')
  })

  it('is judged where nothing is kept on a disk, too', async () => {
    await expect(mounted({ subPathExpr: '$(X)' }, { X: '..' }, noDisk)).rejects.toThrow("must not contain '..'")
    expect(await mounted({ subPath: 'a/b' }, {}, noDisk)).toBe('a/b')
  })
})
