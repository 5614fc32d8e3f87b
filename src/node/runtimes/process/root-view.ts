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
 * The container's view of the machine. `own`: its own root directory, created as root. `namespace`: its own root
 * directory, created in a user namespace. `links`: the machine's root, and a directory with links to its volumes.
 */
export type ViewKind = 'own' | 'namespace' | 'links'

export interface ViewOptions {
  kind: ViewKind
  /** The directory of the container. */
  directory: string
  hostname: string
  /** Directories to hide from containers, for the view `namespace`. */
  hidden?: readonly string[]
  /** The text of the pod's resolv.conf. Undefined uses the machine's. */
  resolvConf?: string | undefined
  config: Pick<ContainerConfig, 'mounts' | 'workingDir' | 'user' | 'noNewPrivileges' | 'readOnlyRootFilesystem'>
}

/** Mounts of the machine that containers do not get, or have their own instance of. */
const left = ['/proc', '/sys', '/dev', '/run', '/tmp', '/var/run', '/var/tmp']

/** A line of a table for `mount --all`. */
type Entry = readonly [source: string, target: string, type: string, options: string]

/** A command to run in the container, and the names of variables that carry its environment, each as `KEY=VALUE`. */
export interface Entered {
  command: readonly string[]
  carried: readonly string[]
}

/** The directory in the new root in which volumes are mounted before they are moved to their paths. */
const staged = '/.coxswain-volumes'

/**
 * The command that creates a root directory and runs another command in it. The root has the machine's files with a
 * writable layer in memory above them, and its own devices, /tmp and volumes. Everything is removed with the last
 * process. The command reports on a descriptor that it is ready, or its error.
 *
 * All of this runs as root, with programs of the machine. Once a volume is at its path, no program of the new root runs
 * before root's privileges are dropped. The container's environment is carried in variables that have no meaning to
 * these programs.
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
    // Processes without root see no processes of other users.
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
 * The shell lines that mount volumes at their paths. Each is first mounted in a staging directory and compared with the
 * target that was checked. The paths are resolved in the new root by a single process, which starts while the root
 * contains only files of the machine.
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
    // A volume that contains this container's directory contains these mounts too, so the directory cannot be removed.
    `rmdir root${staged} 2>/dev/null || :`,
  ]
}

/** Fails the start if a mount differs from the target that was checked, because a link may have replaced it. */
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

/** The outermost mounts of the machine, except its root, which is visible anyway. */
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
 * Parents of the directories to which a container's root may write, such as /usr/share/message in Kubernetes' examples.
 */
const parentsOfOpen = ['/', '/usr', '/usr/local', '/var']

/**
 * Directories in whose layers the container's user may create files. The machine's files do not change. Every user may
 * read these directories.
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

/** The shell lines that write the pod's resolv.conf into its root directory. */
export function resolverLines({ directory, resolvConf }: ViewOptions): string[] {
  if (resolvConf === undefined) {
    // A link into an omitted directory, such as that of systemd-resolved, would be dangling.
    return [
      'if [ -L root/etc/resolv.conf ] && cat /etc/resolv.conf > root/etc/resolv.conf.new 2>/dev/null; then mv root/etc/resolv.conf.new root/etc/resolv.conf; fi',
    ]
  }
  const file = path.join(directory, 'resolv.conf')
  writeFileSync(file, resolvConf)
  return [`if [ -d root/etc ]; then rm -f root/etc/resolv.conf; cp ${shellWord(file)} root/etc/resolv.conf; fi`]
}

/** Names a user that the machine does not have, because many programs fail for a user without a name. */
function nameUser({ uid, gid }: ContainerConfig['user']): string[] {
  if (uid === undefined || !isPodUser(uid)) return []
  return [
    `echo 'pod:x:${uid}:${gid}:root of the pod:/root:/bin/sh' >> root/etc/passwd`,
    `echo 'pod:x:${gid}:' >> root/etc/group`,
  ]
}

/** The only capability that every container keeps: binding ports below 1024. */
const keptCapability = '-all,+net_bind_service'

/**
 * Shell words that enter a root directory, drop root's privileges according to the container's user, and run a command
 * with the carried environment. `setpriv` and `nsenter` are the machine's: no program of the new root runs before the
 * user has changed. The capability survives this change; all other privileges of root end with the next program.
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

/** The command that runs another command in the environment of a container's process. */
export function joinCommand(pid: number, config: ViewOptions['config'], { command, carried }: Entered): string[] {
  return [
    '/bin/sh',
    '-c',
    `exec ${runAs(config, ['--target', String(pid), '--mount', '--uts', '--root'], command, carried)}`,
  ]
}

/**
 * Encodes an environment in variables that have no meaning to the programs that create a root directory. Returns the
 * variables and their names.
 */
export function carriedEnvironment(env: Readonly<Record<string, string>>): {
  variables: Record<string, string>
  carried: string[]
} {
  const entries = Object.entries(env).map(
    ([key, value], index) => [`COXSWAIN_CARRIED_${index}`, `${key}=${value}`] as const,
  )
  return { variables: Object.fromEntries(entries), carried: entries.map(([name]) => name) }
}

/** The paths of the volumes and the working directory of a container without its own root. */
export function linkedPaths({ directory, config }: Pick<ViewOptions, 'directory' | 'config'>): {
  root: string
  workingDirectory: string
} {
  const root = path.join(directory, 'rootfs')
  return { root, workingDirectory: path.join(root, config.workingDir || '/') }
}

/** Creates the directory with links to the volumes, each at its container path. */
export function makeLinks(view: Pick<ViewOptions, 'directory' | 'config'>): void {
  const { root, workingDirectory } = linkedPaths(view)
  const { mounts } = view.config
  mkdirSync(root, { recursive: true })
  for (const { containerPath, hostPath } of mounts) {
    // A mount below a volume would have to be created in the volume, which must not be changed.
    if (mounts.some((m) => containerPath.startsWith(`${m.containerPath}/`))) continue
    const at = path.join(root, containerPath)
    mkdirSync(path.dirname(at), { recursive: true })
    symlinkSync(hostPath, at)
  }
  mkdirSync(workingDirectory, { recursive: true })
}
