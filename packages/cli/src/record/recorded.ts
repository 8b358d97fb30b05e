// A connection whose traffic is written to a file as it goes. The file is there before anything is sent.
import { createWriteStream, type WriteStream } from 'node:fs'
import { once } from 'node:events'
import type { ConnectConnectionAdapter } from '@millrace/client'
import { recordConnection } from '@millrace/client/recording'
import { CommandError, messageOf } from '../command-error.ts'

export interface RecordedConnection {
  readonly connection: ConnectConnectionAdapter
  /**
   * Waits until all of it is on the disk.
   * @throws CommandError if it could not be written.
   */
  close(): Promise<void>
}

/** @throws CommandError if the file cannot be opened. */
export async function recordTo(path: string, connection: ConnectConnectionAdapter): Promise<RecordedConnection> {
  const file = createWriteStream(path)
  let failure: unknown
  file.on('error', (error) => (failure ??= error))
  try {
    await once(file, 'open')
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${messageOf(error)}`)
  }
  const recording = recordConnection(connection, { sink: (line) => void file.write(line) })
  return {
    connection: recording.connection,
    close: async () => {
      await closed(file)
      if (failure !== undefined) throw new CommandError(`${path} is not whole: ${messageOf(failure)}`)
    },
  }
}

function closed(file: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (file.closed) return resolve()
    file.once('close', () => resolve())
    file.end()
  })
}
