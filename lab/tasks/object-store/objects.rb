# frozen_string_literal: true

# The task object-store in Ruby: plain objects through Marshal, with and without Base64, alone and
# through a column of SQLite.
#
# Every case handles the same number of objects. Objects are created inside the timing if the post
# did that (create, dump) and before it otherwise (load).

require_relative "../runner"
require "base64"

# A small object, typical of applications.
class Plain
  attr_reader :id, :name, :amount, :active, :tags

  def initialize(id)
    @id = id
    @name = "object number #{id}"
    @amount = id * 1.25
    @active = id.even?
    @tags = [:new, "group #{id % 10}"]
  end

  def ==(other)
    other.is_a?(Plain) && id == other.id && name == other.name && amount == other.amount &&
      active == other.active && tags == other.tags
  end
end

SQLITE = Task.has?("sqlite3")

# Shared by the cases, created when the task begins.
class Store
  def initialize(count, step, folder)
    @count = count
    @step = step
    @folder = folder
    @dumped = Array.new(count) { |id| Marshal.dump(Plain.new(id)) }
    @texts = @dumped.map { |bytes| Base64.strict_encode64(bytes) }
  end

  def define
    each_object("create") { |id| Plain.new(id) }
    each_object("dump") { |id| Marshal.dump(Plain.new(id)) }
    each_object("dump Base64") { |id| Base64.strict_encode64(Marshal.dump(Plain.new(id))) }
    each_object("load") { |id| Marshal.load(@dumped[id]) }
    each_object("load Base64") { |id| Marshal.load(Base64.strict_decode64(@texts[id])) }
    each_object("both") { |id| Marshal.load(Marshal.dump(Plain.new(id))) }
    each_object("both Base64") do |id|
      text = Base64.strict_encode64(Marshal.dump(Plain.new(id)))
      Marshal.load(Base64.strict_decode64(text))
    end
    %w[BLOB TEXT].each { |type| column(type) }
  end

  private

  # Returns a case's figures: bytes of an object, with and without Base64.
  def bytes(name)
    list = name.include?("Base64") || name.include?("TEXT") ? @texts : @dumped
    {bytes: list.sum(&:bytesize).fdiv(@count)}
  end

  # `yield` returns an object or its bytes.
  def each_object(name, &work)
    check = lambda do
      @count.times { |id| same(id, work.call(id)) }
      name == "create" ? {} : bytes(name)
    end
    run = ->(iterations) { iterations.times { Task.each_step(@count, @step, &work) } }
    Task.define(name, version: "Marshal of Ruby #{RUBY_VERSION}", check: check, work: run)
  end

  def same(id, got)
    if got.is_a?(String)
      bytes = got.start_with?("\x04\x08".b) ? got : Base64.strict_decode64(got)
      got = Marshal.load(bytes)
    end
    raise Wrong, "object #{id} came back changed" unless got == Plain.new(id)
  end

  # Through a table with one column of objects, in one transaction.
  def column(type)
    names = ["SQLite #{type} write", "SQLite #{type} read"]
    unless SQLITE
      names.each { |name| Task.absent(name, "apt-get install ruby-sqlite3, or gem install sqlite3") }
      return
    end
    path = File.join(@folder, "objects-#{type}.sqlite")
    base64 = type == "TEXT"
    version = "sqlite3 #{SQLite3::VERSION}, SQLite #{SQLite3::SQLITE_VERSION}"
    Task.define(names[0], version: version,
                check: -> { write(path, type, base64) && {bytes: File.size(path).fdiv(@count)} },
                work: ->(iterations) { iterations.times { write(path, type, base64) } })
    Task.define(names[1], version: version,
                check: -> { read_checked(path, type, base64) && bytes(type) },
                work: ->(iterations) { iterations.times { read(path, base64) { |id, one| [id, one] } } })
  end

  def write(path, type, base64)
    File.delete(path) if File.exist?(path)
    database = SQLite3::Database.new(path)
    database.execute("CREATE TABLE objects (id INTEGER PRIMARY KEY, object #{type})")
    database.transaction do
      insert = database.prepare("INSERT INTO objects VALUES (?, ?)")
      Task.each_step(@count, @step) do |id|
        bytes = Marshal.dump(Plain.new(id))
        insert.execute(id, base64 ? Base64.strict_encode64(bytes) : SQLite3::Blob.new(bytes))
      end
      insert.close
    end
    database.close
    true
  end

  def read(path, base64)
    database = SQLite3::Database.new(path)
    row = 0
    database.execute("SELECT id, object FROM objects ORDER BY id") do |id, object|
      yield id, Marshal.load(base64 ? Base64.strict_decode64(object) : object)
      row += 1
      Task.mark if (row % @step).zero? || row == @count
    end
    database.close
    row
  end

  def read_checked(path, type, base64)
    write(path, type, base64)
    rows = read(path, base64) { |id, object| same(id, object) }
    raise Wrong, "#{rows} of #{@count} objects were returned" unless rows == @count
    true
  end
end

Task.serve(version: "Marshal, Base64") do |command|
  count = command["documents"]
  Store.new(count, command["step"] || count, command["folder"]).define
end
