import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { FeatureGates } from '../api/feature-gates.ts'
import { type LogLevel, Logger } from '../base/logger.ts'
import type { ServeOptions } from '../cluster/index.ts'

const integer = (text: string): number => {
  if (!/^\d+$/.test(text) || Number(text) > 65535) throw new InvalidArgumentError('must be a port number from 0 to 65535')
  return Number(text)
}

const list = (text: string) => text.split(',').map((s) => s.trim()).filter((s) => s !== '')

const gates = (text: string): FeatureGates => {
  try {
    return FeatureGates.parse(text)
  } catch (e) {
    throw new InvalidArgumentError((e as Error).message)
  }
}

/** The flags of everything that serves the API. */
export function addApiFlags(command: Command): Command {
  return command
    .option('--data-dir <dir>', 'where everything is kept', './.coxswain')
    .addOption(new Option('--store <driver>', 'where objects are stored').choices(['lmdb', 'memory']).default('lmdb'))
    .option('--secure-port <port>', 'the port to serve HTTPS on; 0 takes a free one', integer, 6443)
    .option('--bind-address <address>', 'the address to listen on', '127.0.0.1')
    .option('--kubeconfig-out <file>', 'where to write a kubeconfig (default: DATA_DIR/kubeconfig)')
    .option('--token-auth-file <file>', 'CSV of bearer tokens: token,user,uid,"group1,group2"')
    .option('--client-ca-file <file>', 'further certificate authorities of client certificates, in PEM')
    .option('--disable-admission-plugins <names>', 'admission plugins to leave out, separated by commas', list, [])
    .option('--feature-gates <gates>', 'A=true,B=false', gates)
    .addOption(new Option('--log-level <level>', 'how much is logged to stderr').choices(['debug', 'info', 'warn', 'error']).default('info'))
    .option('--config <file>', 'YAML file with any of these flags, without the dashes')
}

/** What commander makes of the flags. */
interface ParsedFlags {
  dataDir: string
  store: 'lmdb' | 'memory'
  securePort: number
  bindAddress: string
  kubeconfigOut?: string
  tokenAuthFile?: string
  clientCaFile?: string
  disableAdmissionPlugins: string[]
  featureGates?: FeatureGates
  logLevel: LogLevel
  config?: string
}

/** Reads the flags of a command line, and of the file that --config names; the command line wins. */
export async function readApiFlags(command: Command, release: string): Promise<ServeOptions> {
  const { config } = command.opts<ParsedFlags>()
  if (config) await applyConfigFile(command, config)
  const flags = command.opts<ParsedFlags>()
  return {
    dataDir: flags.dataDir,
    store: flags.store,
    bindAddress: flags.bindAddress,
    securePort: flags.securePort,
    kubeconfigOut: flags.kubeconfigOut,
    tokenAuthFile: flags.tokenAuthFile,
    clientCaFile: flags.clientCaFile,
    disabledAdmission: flags.disableAdmissionPlugins,
    gates: flags.featureGates ?? FeatureGates.of(),
    release,
    logger: new Logger((line) => process.stderr.write(line), flags.logLevel),
  }
}

async function applyConfigFile(command: Command, file: string): Promise<void> {
  const { parse } = await import('yaml')
  let values: unknown
  try {
    values = parse(readFileSync(file, 'utf8'))
  } catch (e) {
    throw new Error(`--config: ${file}: ${(e as Error).message.split('\n')[0]}`, { cause: e })
  }
  if (values === null) return
  if (typeof values !== 'object' || Array.isArray(values)) throw new Error(`${file}: must be a mapping of flags to values`)
  for (const [name, value] of Object.entries(values)) {
    const option = command.options.find((o) => o.long === `--${name}`)
    if (!option || name === 'config') throw new Error(`${file}: unknown flag ${JSON.stringify(name)}`)
    if (command.getOptionValueSource(option.attributeName()) === 'cli') continue
    const text = Array.isArray(value) ? value.join(',') : typeof value === 'object' && value ? Object.entries(value).map(([k, v]) => `${k}=${v}`).join(',') : String(value)
    try {
      if (option.argChoices && !option.argChoices.includes(text)) throw new InvalidArgumentError(`Allowed choices are ${option.argChoices.join(', ')}.`)
      const parsed: unknown = option.parseArg && !option.argChoices ? option.parseArg(text, undefined) : text
      command.setOptionValueWithSource(option.attributeName(), parsed, 'config')
    } catch (e) {
      if (e instanceof InvalidArgumentError) throw new Error(`${file}: ${name}: ${e.message}`, { cause: e })
      throw e
    }
  }
}
