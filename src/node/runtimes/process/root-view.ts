import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ContainerConfig } from '../../runtime/runtime.ts'
import { shellWord } from './shell-word.ts'
import { defaultSearchPath, findTool } from './tools.ts'

/** How a container's programs see the machine: `own` is a root directory of its own, `links` the machine's with a directory of links to its volumes. */
export type ViewKind = 'own' | 'links'

export interface ViewOptions {
  kind: ViewKind
  /** The container's own. */
  directory: string
  hostname: string
  config: Pick<ContainerConfig, 'mounts' | 'workingDir' | 'user' | 'readOnlyRootFilesystem'>
}

const needed = ['unshare', 'nsenter', 'mount', 'umount', 'pivot_root', 'setpriv'] as const

/** Mounts of the machine that a container has its own of, or that are not its business. */
const left = ['/proc', '/sys', '/dev', '/run', '/tmp', '/var/run', '/var/tmp']

/** Finds out, by trying it, whether containers can have roots of their own: that takes root, and a kernel that lets it. */
export async function bestView(directory: string): Promise<ViewKind> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || needed.some((tool) => !findTool(tool))) return 'links'
  const trial = mkdtempSync(path.join(directory, 'trial-'))
  try {
    const config = { mounts: [], workingDir: '/', user: { supplementalGroups: [] }, readOnlyRootFilesystem: false }
    const [program, ...args] = enterCommand({ kind: 'own', directory: trial, hostname: 'trial', config }, ['true'], defaultSearchPath, 1)
    await new Promise<void>((resolve, reject) => execFile(program!, args, { env: { PATH: defaultSearchPath } }, (error) => (error ? reject(error) : resolve())))
    return 'own'
  } catch {
    return 'links'
  } finally {
    rmSync(trial, { recursive: true, force: true })
  }
}

/** Where the machine's own root is while the container's is being made. */
const machine = '/.machine'

/** A line of a table for `mount --all`: what, where, type, options. */
type Entry = readonly [source: string, target: string, type: string, options: string]

/**
 * The command that makes a root of its own and runs another command in it: the machine's files with a layer of its own above them, in memory; devices, /tmp and
 * volumes. All of it ends with the last process. It says on a descriptor that it is ready, or what went wrong.
 */
export function enterCommand(options: ViewOptions, command: readonly string[], searchPath: string, reportTo = 3): string[] {
  const { directory, hostname, config } = options
  const base = path.join(directory, 'root')
  mkdirSync(base, { recursive: true })
  makeDeviceLinks(path.join(directory, 'dev'))
  const mounts = [...config.mounts].sort((a, b) => a.containerPath.length - b.containerPath.length)
  const files = mounts.filter((m) => !statSync(m.hostPath).isDirectory()).map((m) => m.containerPath)
  const folders = mounts.map((m) => (files.includes(m.containerPath) ? path.dirname(m.containerPath) : m.containerPath))
  const workingDir = config.workingDir || '/'
  const below = (at: string) => path.join(machine, at)
  const table = (name: string, entries: readonly Entry[]) => `mount --all --fstab ${shellWord(below(writeTable(path.join(directory, name), entries)))}`
  const words = (list: readonly string[]) => list.map(shellWord).join(' ')
  const lines = [
    'set -e',
    `exec 8>&1 9>&2 1>&${reportTo} 2>&1`,
    `mount -t tmpfs -o mode=755 coxswain ${shellWord(base)}`,
    `cd ${shellWord(base)}`,
    `mkdir -p upper${machine} work root`,
    'mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work coxswain root',
    'cd root',
    `pivot_root . .${machine}`,
    'cd /',
    `mount --rbind ${machine}/proc /proc`,
    table('system.fstab', [
      [below('/sys'), '/sys', 'none', 'rbind'],
      ['coxswain', '/dev', 'tmpfs', 'mode=755'],
      ['coxswain', '/dev/pts', 'devpts', 'newinstance,ptmxmode=0666,mode=620,X-mount.mkdir'],
      ['coxswain', '/dev/shm', 'tmpfs', 'mode=1777,X-mount.mkdir'],
      ['coxswain', '/tmp', 'tmpfs', 'mode=1777,X-mount.mkdir'],
      ...otherMounts().map((at): Entry => [below(at), at, 'none', 'rbind']),
    ]),
    `cp -a ${words([`${below(directory)}/dev/.`, ...devices.map((name) => below(`/dev/${name}`))])} /dev/`,
    // A link into a directory that is left out, as with systemd's resolver, would lead nowhere.
    `if [ -L /etc/resolv.conf ] && cat ${machine}/etc/resolv.conf > /etc/resolv.conf.new 2>/dev/null; then mv /etc/resolv.conf.new /etc/resolv.conf; fi`,
    `mkdir -p ${words([workingDir, ...folders])}`,
    ...files.map((at) => `[ -e ${shellWord(at)} ] || : > ${shellWord(at)}`),
    ...(mounts.length > 0 ? [table('volumes.fstab', mounts.map((m) => [below(m.hostPath), m.containerPath, 'none', m.readOnly ? 'rbind,ro' : 'rbind']))] : []),
    `umount -l ${machine}`,
    `rmdir ${machine}`,
    `echo ${shellWord(hostname)} > /proc/sys/kernel/hostname`,
    ...(config.readOnlyRootFilesystem ? ['mount -o remount,bind,ro /'] : []),
    `cd ${shellWord(workingDir)}`,
    'echo ready',
    'exec 1>&8 2>&9 8>&- 9>&- 3>&-',
    `export PATH=${shellWord(searchPath)}`,
    `exec ${words([...asUser(config.user), ...command])}`,
  ]
  return [findTool('unshare')!, '--mount', '--uts', '/bin/sh', '-c', lines.join('\n')]
}

const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const deviceLinks = { fd: '/proc/self/fd', stdin: 'fd/0', stdout: 'fd/1', stderr: 'fd/2', ptmx: 'pts/ptmx' }

function makeDeviceLinks(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [name, to] of Object.entries(deviceLinks)) symlinkSync(to, path.join(folder, name))
}

function writeTable(file: string, entries: readonly Entry[]): string {
  const word = (text: string) => text.replaceAll(/[\s\\#]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`)
  writeFileSync(file, entries.map((entry) => `${entry.map(word).join(' ')} 0 0\n`).join(''))
  return file
}

/** The outermost mounts of the machine but for the root, whose own files are seen anyway. */
function otherMounts(): string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').flatMap((line) => line.split(' ')[4] ?? [])
  const wanted = points.filter((at) => at !== '/' && !at.includes('\\') && !isBelow(at, left)).sort()
  return [...new Set(wanted.filter((at) => !isBelow(at, wanted.filter((other) => other !== at))))]
}

const isBelow = (at: string, folders: readonly string[]) => folders.some((folder) => at === folder || at.startsWith(`${folder}/`))

function asUser({ uid, gid, supplementalGroups }: ContainerConfig['user']): string[] {
  if (uid === undefined && gid === undefined && supplementalGroups.length === 0) return []
  const groups = supplementalGroups.length > 0 ? `--groups=${supplementalGroups.join(',')}` : '--clear-groups'
  return [findTool('setpriv')!, `--reuid=${uid ?? 0}`, `--regid=${gid ?? 0}`, groups, '--']
}

/** The command that runs another one where a container's process is. */
export function joinCommand(pid: number, config: ViewOptions['config'], command: readonly string[], searchPath: string): string[] {
  const words = [...asUser(config.user), ...command].map(shellWord).join(' ')
  const script = `cd ${shellWord(config.workingDir || '/')} && export PATH=${shellWord(searchPath)} && exec ${words}`
  return [findTool('nsenter')!, '--target', String(pid), '--mount', '--uts', '/bin/sh', '-c', script]
}

/** Where a container finds its volumes that has no root of its own, and where it starts. */
export function linkedPaths({ directory, config }: Pick<ViewOptions, 'directory' | 'config'>): { root: string; workingDirectory: string } {
  const root = path.join(directory, 'rootfs')
  return { root, workingDirectory: path.join(root, config.workingDir || '/') }
}

/** Makes the directory with links to the volumes, each at its path below. */
export function makeLinks(view: Pick<ViewOptions, 'directory' | 'config'>): void {
  const { root, workingDirectory } = linkedPaths(view)
  const { mounts } = view.config
  mkdirSync(root, { recursive: true })
  for (const { containerPath, hostPath } of mounts) {
    // What is mounted below a volume would have to be made in the volume itself, which is not ours to change.
    if (mounts.some((m) => containerPath.startsWith(`${m.containerPath}/`))) continue
    const at = path.join(root, containerPath)
    mkdirSync(path.dirname(at), { recursive: true })
    symlinkSync(hostPath, at)
  }
  mkdirSync(workingDirectory, { recursive: true })
}
