import { lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { processesOfNamespace } from './proc.ts'
import {
  type Entered,
  type ViewOptions,
  deviceNames,
  makeDeviceLinks,
  openDirectories,
  resolverLines,
  volumeLines,
  words,
} from './root-view.ts'
import { findTool, shellWord } from './tools.ts'

/** Directories that each container has its own instance of. */
const ownDirectories = ['proc', 'sys', 'dev', 'run', 'tmp', 'root']

/**
 * The command that creates a root directory for a container and runs another command in it, without root. It uses a
 * user namespace in which the node's user is root, with its own mounts, processes and host name. Outside, pods run as
 * the node's user, so hidden directories are covered by empty ones before the container starts. No capability remains
 * that could uncover them, and in a user namespace that the container creates these mounts are locked.
 */
export function enterNamespaceCommand(options: ViewOptions, { command, carried }: Entered, reportTo = 3): string[] {
  const { directory, hostname, hidden = [], config } = options
  const base = path.join(directory, 'root')
  mkdirSync(base, { recursive: true })
  makeDeviceLinks(path.join(directory, 'dev'))
  const root = path.join(base, 'root')
  const layout = layoutOf(config.mounts.map(({ containerPath }) => containerPath))
  const lines = [
    'set -e',
    'umask 022',
    `exec 8>&1 9>&2 1>&${reportTo} 2>&1`,
    `mount -t tmpfs -o mode=755 coxswain ${shellWord(base)}`,
    `cd ${shellWord(base)}`,
    `mkdir -p root ${words(layout.layers.flatMap((name) => [`upper/${name}`, `work/${name}`]))} ${words(layout.opened.map((at) => `upper${at}`))}`,
    ...layout.links.map(({ name, target }) => `ln -s ${shellWord(target)} ${shellWord(`root/${name}`)}`),
    `mkdir -p ${words([...ownDirectories, ...layout.layers, ...layout.plain].map((name) => `root/${name}`))}`,
    ...layout.layers.map((name) => {
      const layer = `lowerdir=/${name},upperdir=upper/${name},workdir=work/${name},userxattr`
      return `mount -t overlay -o ${shellWord(layer)} coxswain ${shellWord(`root/${name}`)} 2>/dev/null || mount --rbind ${shellWord(`/${name}`)} ${shellWord(`root/${name}`)}`
    }),
    ...layout.plain.map((name) => `mount --rbind ${shellWord(`/${name}`)} ${shellWord(`root/${name}`)}`),
    'mount -t proc -o nosuid,nodev,noexec proc root/proc',
    'mount --rbind /sys root/sys',
    'mount -t tmpfs -o mode=755 coxswain root/dev',
    ...deviceNames.map((name) => `: > root/dev/${name}; mount --bind /dev/${name} root/dev/${name}`),
    `cp -a ${shellWord(`${directory}/dev/.`)} root/dev/`,
    'mkdir root/dev/pts root/dev/shm',
    'mount -t devpts -o newinstance,ptmxmode=0666,mode=620 coxswain root/dev/pts',
    'mount -t tmpfs -o mode=1777 coxswain root/dev/shm',
    'mount -t tmpfs -o mode=1777 coxswain root/tmp',
    'chmod 700 root/root',
    ...resolverLines(options),
    // The user may not write the file in /proc/sys. Without the program `hostname` the machine's name remains; HOSTNAME
    // is the pod's.
    `hostname ${shellWord(hostname)} 2>/dev/null || true`,
    ...volumeLines(options, root, undefined),
    ...(config.readOnlyRootFilesystem
      ? ['root', ...layout.layers.map((name) => `root/${name}`)].map(
          (at) => `mount -o remount,bind,ro ${shellWord(at)}`,
        )
      : []),
    // A hidden directory may contain the current one.
    'cd root',
    ...hideLines(hidden, config.mounts),
    'exec 1>&8 2>&9 8>&- 9>&-',
    // The first process of the namespace waits for the program. The kernel does not deliver signals that the first
    // process does not handle, and most programs handle none.
    `${runConfined(config, ['--root=.'], [...reporting(reportTo), ...command], carried)} <&0 &`,
    ...(reportTo > 2 ? [`exec ${reportTo}>&-`] : []),
    'set +e',
    'wait $!',
    'exit $?',
  ]
  return [...namespaces(), '/bin/sh', '-c', lines.join('\n')]
}

/** Reports that the preparation is complete, right before the program runs. */
const reporting = (to: number): string[] => [
  '/bin/sh',
  '-c',
  `echo ready >&${to}; exec ${to > 2 ? `${to}>&- ` : ''}"$@"`,
  'sh',
]

const namespaces = (): string[] => [
  findTool('unshare')!,
  '--user',
  '--map-root-user',
  '--mount',
  '--uts',
  '--ipc',
  '--pid',
  '--fork',
  '--kill-child',
  '--',
]

/**
 * The command that runs another command in the environment of a container. `pid` is the process outside of the
 * namespace that waits for the container.
 */
export function joinNamespaceCommand(
  pid: number,
  config: ViewOptions['config'],
  { command, carried }: Entered,
): string[] {
  const { first, program } = processesOfNamespace(pid)
  const enter = [
    findTool('nsenter')!,
    '--target',
    String(first),
    '--user',
    '--preserve-credentials',
    '--mount',
    '--uts',
    '--ipc',
    '--pid',
    '--',
  ]
  // The root directory is opened as root of the namespace, and entered without capabilities.
  const within = `exec 7</proc/${program}/root && exec ${runConfined(config, ['--root=/proc/self/fd/7'], command, carried)}`
  return ['/bin/sh', '-c', `exec ${words([...enter, '/bin/sh', '-c', within])}`]
}

/**
 * The only remaining capability, which allows to enter the root directory. A container that leaves its root finds the
 * hidden directories hidden there too.
 */
const kept = '-all,+sys_chroot'

/**
 * Shell words that drop the capabilities of the namespace's root, enter the root directory and run a command. All
 * programs except the last are the machine's. A user other than root gets a user namespace of its own that maps no
 * other users.
 */
function runConfined(
  config: ViewOptions['config'],
  where: readonly string[],
  command: readonly string[],
  carried: readonly string[],
): string {
  const {
    user: { uid = 0, gid = uid },
    workingDir,
  } = config
  const renamed =
    uid === 0 ? [] : [findTool('unshare')!, '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--keep-caps', '--']
  const rights = [
    findTool('setpriv')!,
    '--no-new-privs',
    `--inh-caps=${kept}`,
    `--ambient-caps=${kept}`,
    `--bounding-set=${kept}`,
    '--',
  ]
  const enter = [findTool('nsenter')!, ...where, '--', 'env', '-i', `--chdir=${workingDir || '/'}`]
  return `${words([...renamed, ...rights, ...enter])} ${carried.map((name) => `"$${name}"`).join(' ')} ${words(command)}`
}

interface Layout {
  /** Top-level directories with a writable layer of the container. */
  layers: string[]
  /** Top-level directories that are mounted without a layer. */
  plain: string[]
  links: { name: string; target: string }[]
  /** Directories in whose layers a container may create files. */
  opened: string[]
}

/** Decides how a container that mounts volumes at these paths sees the machine's top-level directories. */
function layoutOf(mountPaths: readonly string[]): Layout {
  const layout: Layout = { layers: [], plain: [], links: [], opened: [] }
  const hasMountsBelow = mountedBelow()
  const opened = [...openDirectories(), ...mountPaths.flatMap(parentsOf).filter(isOpen)].filter((at) => at !== '/')
  for (const name of readdirSync('/')) {
    const info = lstatSync(`/${name}`, { throwIfNoEntry: false })
    if (info?.isSymbolicLink()) layout.links.push({ name, target: readlinkSync(`/${name}`) })
    if (!info?.isDirectory() || ownDirectories.includes(name)) continue
    // A layer cannot cover a directory with mounts below it, because it would reveal what they hide.
    const isLayer = !hasMountsBelow(`/${name}`) && opened.some((at) => at === `/${name}` || at.startsWith(`/${name}/`))
    layout[isLayer ? 'layers' : 'plain'].push(name)
  }
  layout.opened = opened.filter((at) => layout.layers.some((name) => at === `/${name}` || at.startsWith(`/${name}/`)))
  return layout
}

const parentsOf = (at: string): string[] => {
  const parts = path.dirname(at).split('/').slice(1)
  return parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`)
}

function isOpen(at: string): boolean {
  const info = lstatSync(at, { throwIfNoEntry: false })
  return info?.isDirectory() === true && (info.mode & 0o7777) === 0o755
}

function mountedBelow(): (folder: string) => boolean {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
  return (folder) => points.some((at) => at.startsWith(`${folder}/`))
}

/**
 * The shell lines that cover hidden directories at all their paths: on the machine, in the new root, and in volumes.
 */
function hideLines(hidden: readonly string[], mounts: ViewOptions['config']['mounts']): string[] {
  const real = [...new Set(hidden.map(realPath))]
  const within = real.flatMap((at) => {
    const shown = mounts.flatMap(({ containerPath, hostPath }) => {
      const below = path.relative(realPath(hostPath), at)
      return below === '' || below.startsWith('..') ? [] : [`.${path.join(containerPath, below)}`]
    })
    return [...shown, `.${at}`]
  })
  // The paths in the new root come first, because they may lead through the hidden directories themselves.
  return [...within, ...real].map(
    (at) => `[ ! -d ${shellWord(at)} ] || mount -t tmpfs -o mode=000,size=4k coxswain ${shellWord(at)}`,
  )
}

function realPath(at: string): string {
  try {
    return realpathSync(at)
  } catch {
    // The path does not exist yet, so there is nothing to hide.
    return at
  }
}
