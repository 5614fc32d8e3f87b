import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { isPodUser } from '../../runtime/pod-users.ts'
import type { ContainerConfig, Mount } from '../../runtime/runtime.ts'
import { findTool, shellWord } from './tools.ts'

/**
 * How a container's programs see the machine: `own` is a root directory of its own, made by root; `namespace` is one
 * that is made in a user namespace; `links` is the machine's with a directory of links to its volumes.
 */
export type ViewKind = 'own' | 'namespace' | 'links'

export interface ViewOptions {
  kind: ViewKind
  /** The container's own. */
  directory: string
  hostname: string
  /** Directories that no container may see, for the view `namespace`. */
  hidden?: readonly string[]
  /** The text of the pod's resolv.conf; undefined: the machine's. */
  resolvConf?: string | undefined
  config: Pick<ContainerConfig, 'mounts' | 'workingDir' | 'user' | 'noNewPrivileges' | 'readOnlyRootFilesystem'>
}

/** Mounts of the machine that a container has its own of, or that are not its business. */
const left = ['/proc', '/sys', '/dev', '/run', '/tmp', '/var/run', '/var/tmp']

/** A line of a table for `mount --all`: what, where, type, options. */
type Entry = readonly [source: string, target: string, type: string, options: string]

/** The command that a container runs, and the names of variables that hold its environment, each `KEY=VALUE`. */
export interface Entered {
  command: readonly string[]
  carried: readonly string[]
}

/** In the container's root while it is made: its volumes, before they are at their paths. */
const staged = '/.coxswain-volumes'

/**
 * The command that makes a root directory of its own and runs another command in it: the machine's files with a layer
 * of its own above them, in memory; devices, /tmp and volumes. All of it ends with the last process. It says on a
 * descriptor that it is ready, or what went wrong.
 *
 * All of this is done by root, with programs of the machine: once a volume is at its path, nothing is run from the new
 * root before the rights of root are gone. The environment of the container is carried in variables that mean nothing
 * to these programs.
 */
export function enterCommand(options: ViewOptions, { command, carried }: Entered, reportTo = 3): string[] {
  const { directory, hostname, config } = options
  const base = path.join(directory, 'root')
  mkdirSync(base, { recursive: true })
  makeDeviceLinks(path.join(directory, 'dev'))
  const root = path.join(base, 'root')
  const within = (at: string) => path.join(root, at)
  const owner = config.noNewPrivileges ? `${config.user.uid}:${config.user.gid}` : undefined
  const opened = owner === undefined ? [] : openDirectories().map((at) => `upper${at}`)
  const home: Entry[] =
    owner !== undefined && existsSync('/root')
      ? [['coxswain', within('/root'), 'tmpfs', `mode=700,uid=${config.user.uid},gid=${config.user.gid}`]]
      : []
  const lines = [
    'set -e',
    'umask 022',
    `exec 8>&1 9>&2 1>&${reportTo} 2>&1`,
    `mount -t tmpfs -o mode=755 coxswain ${shellWord(base)}`,
    `cd ${shellWord(base)}`,
    `mkdir -p upper work root ${words(opened)}`,
    ...(owner === undefined ? [] : [`chown ${owner} upper ${words(opened)}`]),
    'mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work coxswain root',
    // Programs without the rights of root see no processes of other users.
    'mount -t proc -o nosuid,nodev,noexec,hidepid=invisible proc root/proc 2>/dev/null || mount --rbind /proc root/proc',
    mountAll(
      writeTable(path.join(directory, 'system.fstab'), [
        ['/sys', within('/sys'), 'none', 'rbind'],
        ['coxswain', within('/dev'), 'tmpfs', 'mode=755'],
        ['coxswain', within('/dev/pts'), 'devpts', 'newinstance,ptmxmode=0666,mode=620,X-mount.mkdir'],
        ['coxswain', within('/dev/shm'), 'tmpfs', 'mode=1777,X-mount.mkdir'],
        ['coxswain', within('/tmp'), 'tmpfs', 'mode=1777,X-mount.mkdir'],
        ...home,
        ...otherMounts().map((at): Entry => [at, within(at), 'none', 'rbind']),
      ]),
    ),
    `cp -a ${words([`${directory}/dev/.`, ...deviceNames.map((name) => `/dev/${name}`)])} root/dev/`,
    ...resolverLines(options),
    ...(config.noNewPrivileges ? nameUser(config.user) : []),
    `echo ${shellWord(hostname)} > /proc/sys/kernel/hostname`,
    ...volumeLines(options, root, owner),
    ...(config.readOnlyRootFilesystem ? ['mount -o remount,bind,ro root'] : []),
    'cd root',
    'echo ready',
    'exec 1>&8 2>&9 8>&- 9>&- 3>&-',
    `exec ${runAs(config, ['--root=.'], command, carried)}`,
  ]
  return [findTool('unshare')!, '--mount', '--uts', '/bin/sh', '-c', lines.join('\n')]
}

const mountAll = (file: string) => `mount --all --fstab ${shellWord(file)}`
export const words = (list: readonly string[]) => list.map(shellWord).join(' ')

/**
 * The lines that put volumes at their paths. Each is mounted aside first, where it is compared with what was checked.
 * Their paths are looked up in the new root, by one process that is started from it while it has only files of the
 * machine.
 */
export function volumeLines(
  { directory, config: { mounts, workingDir } }: ViewOptions,
  root: string,
  owner: string | undefined,
): string[] {
  const sorted = [...mounts].sort((a, b) => a.containerPath.length - b.containerPath.length)
  const volumes = sorted.map((mount, index) => ({
    mount,
    isFile: !statSync(mount.hostPath).isDirectory(),
    aside: `${staged}/${index}`,
  }))
  const files = volumes.filter(({ isFile }) => isFile)
  const at = shellWord(workingDir || '/')
  const folders = volumes.map(({ mount, isFile }) => (isFile ? path.dirname(mount.containerPath) : mount.containerPath))
  const inside = [
    'set -e',
    `[ -d ${at} ] || { mkdir -p ${at}${owner === undefined ? '' : ` && chown ${owner} ${at}`}; }`,
    ...(folders.length > 0 ? [`mkdir -p ${words(folders)}`] : []),
    ...files.map(({ mount }) => `[ -e ${shellWord(mount.containerPath)} ] || : > ${shellWord(mount.containerPath)}`),
  ]
  const insideRoot = (lines: readonly string[]) => `chroot root /bin/sh -c ${shellWord(lines.join('\n'))}`
  if (volumes.length === 0) return [insideRoot(inside)]
  const from = volumes.map(({ mount, aside }): Entry => [mount.hostPath, path.join(root, aside), 'none', 'rbind'])
  const to = volumes.map(({ mount, aside }): Entry => [
    aside,
    mount.containerPath,
    'none',
    mount.readOnly ? 'rbind,ro' : 'rbind',
  ])
  return [
    `mkdir root${staged}`,
    `mount -t tmpfs coxswain root${staged}`,
    `mkdir ${words(volumes.filter(({ isFile }) => !isFile).map(({ aside }) => `root${aside}`))} root${staged}/x`,
    ...files.map(({ aside }) => `: > root${aside}`),
    mountAll(writeTable(path.join(directory, 'aside.fstab'), from)),
    ...checkLines(volumes),
    `${insideRoot([...inside, mountAll('/proc/self/fd/0')])} < ${shellWord(writeTable(path.join(directory, 'volumes.fstab'), to))}`,
    `umount -l root${staged}`,
    // A volume that shows the directory of this container shows these mounts, too, and keeps it from being removed.
    `rmdir root${staged} 2>/dev/null || :`,
  ]
}

/** Ends the start where what is mounted is not what was checked: somebody has put a link in its place. */
function checkLines(volumes: readonly { mount: Mount; aside: string }[]): string[] {
  const checked = volumes.filter(({ mount }) => mount.identity !== undefined)
  if (checked.length === 0) return []
  const shown = `$(stat --format %d:%i ${words(checked.map(({ aside }) => `root${aside}`))} | tr '\\n' ' ')`
  return [
    `[ "${shown}" = "${checked.map(({ mount }) => mount.identity).join(' ')} " ] || { echo 'a volume was changed while it was mounted'; exit 1; }`,
  ]
}

export const deviceNames = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const deviceLinks = { fd: '/proc/self/fd', stdin: 'fd/0', stdout: 'fd/1', stderr: 'fd/2', ptmx: 'pts/ptmx' }

export function makeDeviceLinks(folder: string): void {
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
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
  const wanted = points.filter((at) => at !== '/' && !at.includes('\\') && !isBelow(at, left)).sort()
  return [
    ...new Set(
      wanted.filter(
        (at) =>
          !isBelow(
            at,
            wanted.filter((other) => other !== at),
          ),
      ),
    ),
  ]
}

const isBelow = (at: string, folders: readonly string[]) =>
  folders.some((folder) => at === folder || at.startsWith(`${folder}/`))

/**
 * Directories whose own directories a container's root writes to, as the documentation's examples do
 * (/usr/share/message).
 */
const parentsOfOpen = ['/', '/usr', '/usr/local', '/var']

/**
 * Those in which the container's user may make files of its own: its layer has them, the machine's stay as they are.
 * Everybody may read them already.
 */
export function openDirectories(): string[] {
  const candidates = parentsOfOpen.flatMap((parent) =>
    existsSync(parent) ? readdirSync(parent).map((name) => path.join(parent, name)) : [],
  )
  return candidates.filter((at) => {
    const info = left.includes(at) && at !== '/run' ? undefined : lstatSync(at, { throwIfNoEntry: false })
    return info?.isDirectory() && info.uid === 0 && (info.mode & 0o7777) === 0o755
  })
}

/** The lines that put the pod's resolv.conf into its root directory. */
export function resolverLines({ directory, resolvConf }: ViewOptions): string[] {
  if (resolvConf === undefined) {
    // A link into a directory that is left out, as with systemd's resolver, would lead nowhere.
    return [
      'if [ -L root/etc/resolv.conf ] && cat /etc/resolv.conf > root/etc/resolv.conf.new 2>/dev/null; then mv root/etc/resolv.conf.new root/etc/resolv.conf; fi',
    ]
  }
  const file = path.join(directory, 'resolv.conf')
  writeFileSync(file, resolvConf)
  return [`if [ -d root/etc ]; then rm -f root/etc/resolv.conf; cp ${shellWord(file)} root/etc/resolv.conf; fi`]
}

/** A name for a user that the machine does not know: many programs fail for one who has none. */
function nameUser({ uid, gid }: ContainerConfig['user']): string[] {
  if (uid === undefined || !isPodUser(uid)) return []
  return [
    `echo 'pod:x:${uid}:${gid}:root of the pod:/root:/bin/sh' >> root/etc/passwd`,
    `echo 'pod:x:${gid}:' >> root/etc/group`,
  ]
}

/** The one capability that every container keeps: it may listen on ports below 1024. */
const keptCapability = '-all,+net_bind_service'

/**
 * A shell's words that enter a root directory, give up the rights of root as the container's user says, and run a
 * command with the carried environment.
 * `setpriv` and `nsenter` are the machine's: of the new root nothing is run before the user has changed. The capability
 * outlives that change,
 * everything else that root has does not outlive the next program.
 */
function runAs(
  config: ViewOptions['config'],
  where: readonly string[],
  command: readonly string[],
  carried: readonly string[],
): string {
  const {
    user: { uid, gid, supplementalGroups },
    noNewPrivileges,
    workingDir,
  } = config
  const changes = uid !== undefined || gid !== undefined || supplementalGroups.length > 0
  const groups = supplementalGroups.length > 0 ? `--groups=${supplementalGroups.join(',')}` : '--clear-groups'
  const confined = [
    '--no-new-privs',
    `--inh-caps=${keptCapability}`,
    `--ambient-caps=${keptCapability}`,
    '--securebits=+no_setuid_fixup',
  ]
  const rights = changes
    ? [findTool('setpriv')!, `--regid=${gid ?? 0}`, groups, ...(noNewPrivileges ? confined : []), '--']
    : []
  const enter = [findTool('nsenter')!, ...where, ...(uid === undefined ? [] : [`--setuid=${uid}`]), '--']
  const variables = carried.map((name) => `"$${name}"`).join(' ')
  return `${words([...rights, ...enter, 'env', '-i', `--chdir=${workingDir || '/'}`])} ${variables} ${words(command)}`
}

/** The command that runs another one where a container's process is. */
export function joinCommand(pid: number, config: ViewOptions['config'], { command, carried }: Entered): string[] {
  return [
    '/bin/sh',
    '-c',
    `exec ${runAs(config, ['--target', String(pid), '--mount', '--uts', '--root'], command, carried)}`,
  ]
}

/** An environment as variables that mean nothing to the programs that make a root directory, and their names. */
export function carriedEnvironment(env: Readonly<Record<string, string>>): {
  variables: Record<string, string>
  carried: string[]
} {
  const entries = Object.entries(env).map(
    ([key, value], index) => [`COXSWAIN_CARRIED_${index}`, `${key}=${value}`] as const,
  )
  return { variables: Object.fromEntries(entries), carried: entries.map(([name]) => name) }
}

/** Where a container finds its volumes that has no root of its own, and where it starts. */
export function linkedPaths({ directory, config }: Pick<ViewOptions, 'directory' | 'config'>): {
  root: string
  workingDirectory: string
} {
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
