import { type FileHandle, lchown, lstat, mkdir, open, readdir, realpath } from 'node:fs/promises'
import { constants } from 'node:fs'
import path from 'node:path'

/*
 * Containers may change a volume while the node works in it: a directory that was checked may become a symbolic link a
 * moment later. Therefore each step starts from an open directory and follows no link, as openat(2) with O_NOFOLLOW
 * does. /proc/self/fd/N is the path of an open directory.
 */

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const isLinux = process.platform === 'linux'

interface OpenDirectory {
  handle: FileHandle
  /** The path of an entry through the open directory, which is valid even if the directory was renamed. */
  entry(name: string): string
}

async function openDirectory(at: string, name = at): Promise<OpenDirectory> {
  const handle = await open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  const base = isLinux ? `/proc/self/fd/${handle.fd}` : name
  return { handle, entry: (child) => path.join(base, child) }
}

/**
 * A path and the identity of its target when it was checked. If a mount shows another target, the path was changed
 * meanwhile.
 */
export interface Located {
  path: string
  /** Device and inode in the form of `stat --format %d:%i`. Undefined if they cannot be read. */
  identity: string | undefined
}

const isMissing = (e: unknown): boolean => (e as NodeJS.ErrnoException).code === 'ENOENT'

/**
 * Resolves the path `below` a volume's root. Links may not leave the volume. Missing directories are created with the
 * root's mode and owner. Rejects if the path leaves the volume.
 */
export async function locate(root: string, below: string): Promise<Located> {
  const top = await realpath(root)
  let at = top
  for (const name of below.split('/').filter((part) => part !== '' && part !== '.')) {
    const next = path.join(at, name)
    at = await realpath(next).catch((e: unknown) => {
      if (isMissing(e)) return next
      throw e
    })
    if (at !== top && !at.startsWith(`${top}${path.sep}`))
      throw new Error(`subpath ${JSON.stringify(at)} not within volume path ${JSON.stringify(top)}`)
    if (at === next) await makeBelow(top, path.relative(top, at))
  }
  return { path: at, identity: await identityBelow(top, path.relative(top, at)) }
}

const partsOf = (below: string): string[] => below.split(path.sep).filter((part) => part !== '')

/** Creates the last directory of a path unless an entry exists. */
async function makeBelow(top: string, below: string): Promise<void> {
  const names = partsOf(below)
  const last = names.pop()
  if (last === undefined) return
  await within(top, names, async (parent) => {
    const at = parent.entry(last)
    if (
      await lstat(at).then(
        () => true,
        () => false,
      )
    )
      return
    await mkdir(at)
    const made = await openDirectory(at)
    const model = await within(top, [], ({ handle }) => handle.stat())
    try {
      if (process.getuid?.() === 0) await made.handle.chown(model.uid, model.gid)
      await made.handle.chmod(model.mode & 0o7777)
    } finally {
      await made.handle.close()
    }
  })
}

async function identityBelow(top: string, below: string): Promise<string | undefined> {
  const names = partsOf(below)
  const last = names.pop()
  // The root itself may be a file.
  const look = (at: string) => lstat(at, { bigint: true })
  const info = last === undefined ? await look(top) : await within(top, names, (parent) => look(parent.entry(last)))
  if (info.isSymbolicLink()) throw new Error(`${JSON.stringify(path.join(top, below))} is a symbolic link`)
  return isLinux ? `${info.dev}:${info.ino}` : undefined
}

/** Opens one directory after the other without following links, and runs `work` with the last one. */
async function within<T>(
  top: string,
  names: readonly string[],
  work: (directory: OpenDirectory) => Promise<T>,
): Promise<T> {
  let here = await openDirectory(top)
  let known = top
  try {
    for (const name of names) {
      known = path.join(known, name)
      const next = await openDirectory(here.entry(name), known)
      await here.handle.close()
      here = next
    }
    return await work(here)
  } finally {
    await here.handle.close()
  }
}

/** The new owner and mode of an entry. Undefined fields are not changed. */
interface Ownership {
  uid?: number
  gid?: number
  /** Bits added to the mode of files and of directories. */
  fileMode?: number
  directoryMode?: number
}

/** The maximum depth. Each level holds an open descriptor while its entries are changed. */
const mostLevels = 256

/** Errors of an entry that its container has removed or replaced meanwhile, or that cannot be opened. */
const passing = new Set(['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'])

/** Changes owner and mode of a directory and its contents. Links themselves are changed and never followed. */
export async function giveAway(directory: string, to: Ownership): Promise<void> {
  await giveDirectory(directory, directory, to, 0)
}

async function giveDirectory(at: string, known: string, to: Ownership, level: number): Promise<void> {
  if (level > mostLevels) throw new Error(`${known}: more than ${mostLevels} levels of directories`)
  const here = await openDirectory(at, known)
  try {
    for (const entry of await readdir(here.entry('.'), { withFileTypes: true })) {
      const below = here.entry(entry.name)
      const given = entry.isDirectory()
        ? giveDirectory(below, path.join(known, entry.name), to, level + 1)
        : entry.isFile()
          ? giveFile(below, to)
          : giveLink(below, to)
      await given.catch((e: unknown) => {
        if (!passing.has((e as NodeJS.ErrnoException).code ?? '')) throw e
      })
    }
    await giveHandle(here.handle, to, to.directoryMode)
  } finally {
    await here.handle.close()
  }
}

async function giveFile(at: string, to: Ownership): Promise<void> {
  const file = await open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    await giveHandle(file, to, to.fileMode)
  } finally {
    await file.close()
  }
}

async function giveLink(at: string, to: Ownership): Promise<void> {
  const { uid, gid } = await lstat(at)
  await lchown(at, to.uid ?? uid, to.gid ?? gid)
}

async function giveHandle(handle: FileHandle, { uid, gid }: Ownership, added: number | undefined): Promise<void> {
  const info = await handle.stat()
  await handle.chown(uid ?? info.uid, gid ?? info.gid)
  if (added !== undefined) await handle.chmod((info.mode & 0o7777) | added)
}
