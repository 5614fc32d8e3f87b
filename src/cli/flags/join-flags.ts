import { type Command, InvalidArgumentError } from 'commander'

/** The join flags as parsed by commander. */
export interface ParsedJoinFlags {
  join?: boolean
  server?: URL[]
  token?: string
  caCertHash?: string[]
}

const serverUrl = (text: string, before: readonly URL[] = []): URL[] => {
  if (!URL.canParse(text) || !text.startsWith('https://')) throw new InvalidArgumentError('must be an https URL')
  return [...before, new URL(text)]
}

const bootstrapToken = (text: string): string => {
  const isToken = /^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(text)
  if (!isToken) throw new InvalidArgumentError('must be ID.SECRET of a bootstrap token')
  return text
}

const caHash = (text: string, before: readonly string[] = []): string[] => {
  if (!/^sha256:[0-9a-f]{64}$/i.test(text)) throw new InvalidArgumentError('must be sha256: and 64 hexadecimal digits')
  return [...before, text.toLowerCase()]
}

/** Adds the flags of `node --join` and `up --join`. */
export const addJoinFlags = (command: Command, join: string): Command =>
  command
    .option('--join', join)
    .option('--server <url>', 'API server of the cluster to join; repeatable', serverUrl)
    .option('--token <id.secret>', 'bootstrap token to join with', bootstrapToken)
    .option(
      '--ca-cert-hash <hash>',
      "sha256:HEX of the public key of the server's certificate authority; repeatable",
      caHash,
    )
