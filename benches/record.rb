# frozen_string_literal: true

require "json"

# Keeps what a benchmark measured, for tools/figures.py: see record.py beside this.
module Record
  module_function

  # Keeps the samples of a route. The first route of a table and case is what the others are compared with.
  def samples(table, kase, route, samples, unit: "s", size: 0)
    append({ table: table, case: kase, route: route, unit: unit, bytes: size, samples: samples })
  end

  # Keeps the versions of libraries and interpreters.
  def versions(found)
    append({ versions: found })
  end

  def append(line)
    path = ENV.fetch("REGAUGE_BENCH_JSON", nil)
    File.open(path, "a") { |file| file.puts(::JSON.generate(line)) } if path
  end
end
