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

/** Directories that a container has its own of. */
const ownDirectories = ['proc', 'sys', 'dev', 'run', 'tmp', 'root']

/**
 * The command that makes a root directory for a container and runs another command in it, without the rights of root:
 * in a user namespace, in which the node's user is root, with mounts, processes and a host name of its own. Pods are
 * the node's user to the machine, so what must stay hidden is covered by empty directories before the container starts;
 * no capability is left that could uncover it, and a user namespace that the container makes finds these mounts locked.
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
    // Its file in /proc/sys is closed to the user. A machine without the program keeps its own name; HOSTNAME says the
    // pod's.
    `hostname ${shellWord(hostname)} 2>/dev/null || true`,
    ...volumeLines(options, root, undefined),
    ...(config.readOnlyRootFilesystem
      ? ['root', ...layout.layers.map((name) => `root/${name}`)].map(
          (at) => `mount -o remount,bind,ro ${shellWord(at)}`,
        )
      : []),
    // What is hidden in the end may lead to where all of this is.
    'cd root',
    ...hideLines(hidden, config.mounts),
    'exec 1>&8 2>&9 8>&- 9>&-',
    // The first process of the namespace waits: the kernel keeps signals from it that it does not handle, and most
    // programs handle none.
    `${runConfined(config, ['--root=.'], [...reporting(reportTo), ...command], carried)} <&0 &`,
    ...(reportTo > 2 ? [`exec ${reportTo}>&-`] : []),
    'set +e',
    'wait $!',
    'exit $?',
  ]
  return [...namespaces(), '/bin/sh', '-c', lines.join('\n')]
}

/** Says that all is prepared, from where the program is about to run. */
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
 * The command that runs another one where a container's program is. `pid` is that of the process that waits for it
 * outside.
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
  // The root directory is opened with the rights of root of the namespace, and entered without them.
  const within = `exec 7</proc/${program}/root && exec ${runConfined(config, ['--root=/proc/self/fd/7'], command, carried)}`
  return ['/bin/sh', '-c', `exec ${words([...enter, '/bin/sh', '-c', within])}`]
}

/**
 * The one capability that is left: to enter the root directory. A container that leaves it finds what the node hides
 * hidden there, too.
 */
const kept = '-all,+sys_chroot'

/**
 * A shell's words that give up what root of the namespace may do, enter the root directory and run a command. All
 * programs up to the last are the machine's. Another user than root is one of a user namespace of its own, in which
 * nobody else is known.
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
  /** Top directories above which a container has a layer of its own. */
  layers: string[]
  /** Those that are shown as they are. */
  plain: string[]
  links: { name: string; target: string }[]
  /** Directories in which a container may make files: its layers have them. */
  opened: string[]
}

/** How the top directories of the machine are shown to a container that mounts volumes at these paths. */
function layoutOf(mountPaths: readonly string[]): Layout {
  const layout: Layout = { layers: [], plain: [], links: [], opened: [] }
  const hasMountsBelow = mountedBelow()
  const opened = [...openDirectories(), ...mountPaths.flatMap(parentsOf).filter(isOpen)].filter((at) => at !== '/')
  for (const name of readdirSync('/')) {
    const info = lstatSync(`/${name}`, { throwIfNoEntry: false })
    if (info?.isSymbolicLink()) layout.links.push({ name, target: readlinkSync(`/${name}`) })
    if (!info?.isDirectory() || ownDirectories.includes(name)) continue
    // A mount below would keep a layer from being made: what is below it would come to light.
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
 * The lines that cover what no container may see, wherever it can be seen: on the machine, in the new root, and in
 * volumes.
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
  // First all that is in the new root: the way to it may lead through the directories themselves.
  return [...within, ...real].map(
    (at) => `[ ! -d ${shellWord(at)} ] || mount -t tmpfs -o mode=000,size=4k coxswain ${shellWord(at)}`,
  )
}

function realPath(at: string): string {
  try {
    return realpathSync(at)
  } catch {
    // Not there: there is nothing to hide yet.
    return at
  }
}
