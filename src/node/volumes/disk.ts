import { execFile } from 'node:child_process'
import {
  access,
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { VolumeFiles } from './files.ts'
import { type Located, giveAway, locate } from './safe-walk.ts'

/** The file operations of volumes. A runtime that reads no files gets a disk that stores nothing. */
export interface Disk {
  /** False if nothing reads the files, so that none are written. */
  readonly keepsFiles: boolean
  /** Creates a directory and its parents if it does not exist. */
  makeDirectory(directory: string, mode?: number): Promise<void>
  /** Mounts a tmpfs with a size limit. Without a limit its size is half of the memory. */
  makeMemory(directory: string, sizeBytes: number | undefined): Promise<void>
  /**
   * Checks, or creates, a host path according to the type of its hostPath volume. A created path belongs to `owner`, if
   * given. Rejects if the path has another type.
   */
  prepareHostPath(hostPath: string, type: string, owner?: number): Promise<void>
  /**
   * Replaces the files of a directory atomically: a reader sees all old or all new files. They belong to `owner`, if
   * given.
   */
  writeFiles(directory: string, files: VolumeFiles, owner?: number): Promise<void>
  /** Changes owner and group of a directory and its contents to the id, unless the directory has that owner. */
  giveToUser(directory: string, uid: number): Promise<void>
  /**
   * Changes the group of a directory and its contents. The group may read them, and write them unless `readOnly`. New
   * files in the directory get the same group.
   */
  giveToGroup(directory: string, gid: number, readOnly: boolean): Promise<void>
  /**
   * Resolves the path `below` a volume's root. Links may not leave the volume. Missing directories are created with the
   * root's mode. Rejects if the path leaves the volume.
   */
  locate(root: string, below: string): Promise<Located>
  /** Creates an empty file that every user may write to, and its directory. */
  makeNote(file: string): Promise<void>
  /** Writes a file, and creates its directory. */
  writeFile(file: string, text: string): Promise<void>
  /** Reads the last bytes of a file. Resolves with an empty text if the file does not exist. */
  readEnd(file: string, mostBytes: number): Promise<string>
  /** Removes a directory and its contents. */
  remove(directory: string): Promise<void>
}

/** A disk that stores nothing. */
export const noDisk: Disk = {
  keepsFiles: false,
  makeDirectory: async () => {},
  makeMemory: async () => {},
  prepareHostPath: async () => {},
  writeFiles: async () => {},
  giveToGroup: async () => {},
  giveToUser: async () => {},
  locate: async (root, below) => ({ path: path.join(root, below), identity: undefined }),
  makeNote: async () => {},
  writeFile: async () => {},
  readEnd: async () => '',
  remove: async () => {},
}

const run = promisify(execFile)

/** The mount points at or below a directory of this machine, in the order of mounting. */
async function mountsBelow(directory: string): Promise<string[]> {
  if (process.platform !== 'linux') return []
  const targets = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => (line.split(' ')[1] ?? '').replaceAll('\\040', ' '))
  return targets.filter((target) => target === directory || target.startsWith(`${directory}${path.sep}`))
}

const exists = (at: string): Promise<boolean> =>
  access(at).then(
    () => true,
    () => false,
  )

/** The file system of this machine. */
export const localDisk: Disk = {
  keepsFiles: true,

  async makeDirectory(directory, mode) {
    await mkdir(directory, { recursive: true })
    if (mode !== undefined) await chmod(directory, mode)
  },

  async makeMemory(directory, sizeBytes) {
    if ((await mountsBelow(directory)).includes(directory)) return
    await mkdir(directory, { recursive: true })
    const size = sizeBytes === undefined ? '' : `size=${sizeBytes},`
    await run('mount', ['-t', 'tmpfs', '-o', `${size}mode=1777,nosuid,nodev`, 'tmpfs', directory])
  },

  async prepareHostPath(hostPath, type, owner) {
    const isThere = await exists(hostPath)
    if (type === '' && isThere) return
    // For an empty type kubelet checks nothing, and the runtime creates a missing directory.
    const isDirectory = type === '' || type === 'DirectoryOrCreate'
    if (!isThere && (isDirectory || type === 'FileOrCreate')) {
      if (isDirectory) await mkdir(hostPath, { recursive: true, mode: 0o755 })
      else await writeFile(hostPath, '', { mode: 0o644, flag: 'wx' })
      if (owner !== undefined) await lchown(hostPath, owner, owner)
      return
    }
    if (!isThere) throw new Error(`hostPath type check failed: ${hostPath} is not a ${words[type] ?? type}`)
    const info = await stat(hostPath)
    const isRight = type.startsWith('Directory')
      ? info.isDirectory()
      : type.startsWith('File')
        ? info.isFile()
        : type === 'Socket'
          ? info.isSocket()
          : true
    if (!isRight) throw new Error(`hostPath type check failed: ${hostPath} is not a ${words[type] ?? type}`)
  },

  /** As in Kubernetes: the files are links through `..data`, a link that is atomically moved to a new directory. */
  async writeFiles(directory, files, owner) {
    await mkdir(directory, { recursive: true })
    const link = path.join(directory, '..data')
    const old = await readlink(link).catch(() => undefined)
    const generation = Number(/^\.\.(\d+)$/.exec(old ?? '')?.[1] ?? 0) + 1
    const fresh = path.join(directory, `..${generation}`)
    await rm(fresh, { recursive: true, force: true })
    await mkdir(fresh, { recursive: true })
    for (const [name, { data, mode }] of files) {
      const at = path.join(fresh, name)
      await mkdir(path.dirname(at), { recursive: true })
      await writeFile(at, data)
      if (owner !== undefined) await chown(at, owner, owner)
      await chmod(at, mode)
    }
    const next = path.join(directory, '..data_tmp')
    await rm(next, { force: true })
    await symlink(`..${generation}`, next)
    await rename(next, link)
    await linkEntries(directory, files)
    if (old) await rm(path.join(directory, old), { recursive: true, force: true })
  },

  async giveToGroup(directory, gid, readOnly) {
    // Only root may change the owner of files. Without root all processes have the same user.
    if (process.getuid?.() !== 0) return
    // A writable directory that already has the group is skipped, whatever its size. Read-only files are created anew
    // each time.
    const root = await lstat(directory)
    if (!readOnly && root.gid === gid && (root.mode & 0o2770) === 0o2770) return
    await giveAway(
      directory,
      readOnly ? { gid, fileMode: 0o440, directoryMode: 0o2550 } : { gid, fileMode: 0o660, directoryMode: 0o2770 },
    )
  },

  async giveToUser(directory, uid) {
    if ((await lstat(directory)).uid !== uid) await giveAway(directory, { uid, gid: uid })
  },

  locate,

  async makeNote(file) {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, '')
    await chmod(file, 0o666)
  },

  async writeFile(file, text) {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, text)
  },

  async readEnd(file, mostBytes) {
    const handle = await open(file, 'r').catch(() => undefined)
    if (!handle) return ''
    try {
      const { size } = await handle.stat()
      const bytes = Buffer.alloc(Math.min(size, mostBytes))
      await handle.read(bytes, 0, bytes.length, size - bytes.length)
      return bytes.toString('utf8')
    } finally {
      await handle.close()
    }
  },

  async remove(directory) {
    // Unmounts everything first, so that the contents of other volumes are not removed.
    for (const mounted of (await mountsBelow(directory)).reverse()) await run('umount', ['--lazy', mounted])
    await rm(directory, { recursive: true, force: true })
  },
}

const words: Readonly<Record<string, string>> = {
  Directory: 'directory',
  DirectoryOrCreate: 'directory',
  File: 'file',
  FileOrCreate: 'file',
  Socket: 'socket file',
  CharDevice: 'character device',
  BlockDevice: 'block device',
}

async function linkEntries(directory: string, files: VolumeFiles): Promise<void> {
  const wanted = new Set([...files.keys()].map((name) => name.split('/')[0]!))
  for (const entry of await readdir(directory))
    if (!entry.startsWith('..') && !wanted.has(entry)) await unlink(path.join(directory, entry))
  for (const name of wanted) {
    const at = path.join(directory, name)
    if (!(await lstat(at).catch(() => undefined))) await symlink(path.join('..data', name), at)
  }
}
