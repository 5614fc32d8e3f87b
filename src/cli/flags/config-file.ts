import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'

/** Reads flags from a YAML file, unless the command line sets them. Throws a sentence that names the file. */
export async function applyConfigFile(command: Command, file: string): Promise<void> {
  const { parse } = await import('yaml')
  let values: unknown
  try {
    values = parse(readFileSync(file, 'utf8'))
  } catch (e) {
    throw new Error(`--config: ${file}: ${(e as Error).message.split('\n')[0]}`, { cause: e })
  }
  if (values === null) return
  if (typeof values !== 'object' || Array.isArray(values))
    throw new Error(`${file}: must be a mapping of flags to values`)
  for (const [name, value] of Object.entries(values)) {
    const option = command.options.find((o) => o.long === `--${name}`)
    if (!option || name === 'config') throw new Error(`${file}: unknown flag ${JSON.stringify(name)}`)
    if (command.getOptionValueSource(option.attributeName()) === 'cli') continue
    const text = Array.isArray(value)
      ? value.join(',')
      : typeof value === 'object' && value
        ? Object.entries(value)
            .map(([k, v]) => `${k}=${v}`)
            .join(',')
        : String(value)
    try {
      if (option.argChoices && !option.argChoices.includes(text))
        throw new InvalidArgumentError(`Allowed choices are ${option.argChoices.join(', ')}.`)
      const parsed: unknown = option.parseArg && !option.argChoices ? option.parseArg(text, undefined) : text
      command.setOptionValueWithSource(option.attributeName(), parsed, 'config')
    } catch (e) {
      if (e instanceof InvalidArgumentError) throw new Error(`${file}: ${name}: ${e.message}`, { cause: e })
      throw e
    }
  }
}
